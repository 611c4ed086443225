// A hostile server over stdio, TCP or WebSocket. A call of the tool `flood` starts a flood, which never ends and is the only answer.
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { WebSocketServer } from 'ws'

const [way, revision, kind] = process.argv.slice(2)

const message = (body) => JSON.stringify({ jsonrpc: '2.0', ...body })
const notice = (method, params) => () => message({ method, params })
const padding = 'x'.repeat(1000)

/** The messages of each flood, by number and with the id of the call. */
const FLOODS = {
  pings: (at) => message({ id: `p${at}`, method: 'ping' }),
  unread: (at) => message({ id: `p${at}-${padding}`, method: 'ping' }),
  batches: (at) =>
    `[${Array.from({ length: 100 }, (_, member) => message({ id: `p${at}-${member}`, method: 'ping' })).join()}]`,
  unknown: (at) => message({ id: at, method: `x${at}` }),
  forms: (at) => message({ id: at, method: 'elicitation/create', params: { message: 'name?' } }),
  changes: notice('notifications/tools/list_changed'),
  logs: notice('notifications/message', { level: 'info', data: padding }),
  progress: (at, id) =>
    message({ method: 'notifications/progress', params: { progressToken: id, progress: at } }),
  answers: (at) => message({ id: 1_000_000 + at, result: {} }),
  giant: notice('notifications/message', {
    level: 'info',
    data: 'x'.repeat(kind === 'giant' ? 15_000_000 : 0),
  }),
  opening: (at) => message({ id: `p${at}`, method: 'ping' }),
  stderr: () => padding,
  control: () => '',
}

const RESULTS = {
  initialize: {
    protocolVersion: revision,
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'tools/list': { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] },
}

/** Serves one client. */
function serve(lines, output, encode) {
  lines.on('error', () => undefined)
  lines.on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined || method === undefined) return
    if (method === (kind === 'opening' ? 'initialize' : 'tools/call')) {
      if (kind === 'unread') lines.pause()
      return void flood(kind === 'stderr' ? process.stderr : output, encode, id)
    }
    const result = RESULTS[method]
    const error = { code: -32601, message: 'no such method' }
    output.write(encode(message({ id, ...(result === undefined ? { error } : { result }) })))
  })
}

/** Writes as fast as the client reads. */
async function flood(output, encode, id) {
  for (let at = 0; output.writable;) {
    const parts = []
    for (let size = 0; size < 262_144; at++) {
      const part = Buffer.from(encode(FLOODS[kind](at, id)))
      size += part.length + 1
      parts.push(part)
    }
    if (!output.write(Buffer.concat(parts))) await new Promise((resolve) => output.once('drain', resolve))
  }
}

const toLine = (text) => `${text}\n`

/** A text frame of a server. */
function toFrame(text) {
  if (text === '' && kind === 'control') return Buffer.from([0x89, 0])
  const body = Buffer.from(text)
  const head =
    body.length < 126
      ? [0x81, body.length]
      : body.length < 65_536
        ? [0x81, 126, body.length >> 8, body.length & 255]
        : [0x81, 127, 0, 0, 0, 0, ...new Uint8Array(new Uint32Array([body.length]).buffer).reverse()]
  return Buffer.concat([Buffer.from(head), body])
}

/** The messages of a WebSocket as lines. */
function toLines(socket, stream) {
  return {
    on: (event, take) => socket.on(event === 'line' ? 'message' : event, (data) => take(String(data))),
    pause: () => stream.pause(),
  }
}

const announce = (server) => console.log(server.address().port)

if (way === 'stdio') {
  process.stdout.on('error', () => process.exit())
  process.stdin.on('end', () => process.exit())
  serve(createInterface({ input: process.stdin }), process.stdout, toLine)
} else if (way === 'tcp') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    serve(createInterface({ input: socket }), socket, toLine)
  })
  server.listen(0, '127.0.0.1', () => announce(server))
} else {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => announce(server))
  server.on('connection', (socket, { socket: stream }) => {
    stream.on('error', () => undefined)
    serve(toLines(socket, stream), stream, toFrame)
  })
}
