import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { listen, until } from '../hostile/peer.ts'
import { headed, initialize } from '../http/messages.ts'
import { frame, handshake } from '../ws/raw.ts'
import { bundle } from './bundle.ts'

/** As values, this text takes more memory than the server has. */
const EMPTIES = `[${'{},'.repeat(3_300_000)}{}]`
const HEAP_MIB = 160

/** A server whose process has little memory, and the answer of one of its ports to some bytes. */
async function startSmall(limits: object = {}): Promise<{ readonly port: (name: string) => number }> {
  const heap = `--max-old-space-size=${HEAP_MIB}`
  const args = ['--expose-gc', heap, bundle('reading-server'), JSON.stringify(limits)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [addresses] = (await once(child, 'message')) as [Readonly<Record<string, string>>]
  return { port: (name) => Number(new URL(addresses[name] as string).port) }
}

class Line {
  readonly #socket: Socket
  said = ''

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1' })
    this.#socket.on('error', () => undefined)
    this.#socket.on('data', (chunk: Buffer) => void (this.said += chunk.toString('latin1')))
    onTestFinished(() => void this.#socket.destroy())
  }

  write(bytes: string | Uint8Array): this {
    this.#socket.write(bytes)
    return this
  }

  /** Everything that came, once it contains a text or the server is gone. */
  async heard(text: string): Promise<string> {
    await until(
      () => this.said.includes(text) || this.#socket.destroyed || this.#socket.readableEnded,
      100_000,
    )
    return this.said
  }
}

const CALL = headed('tools/call', { name: 'echo', arguments: { text: 'still here' } }, 7)
const FULL = CALL.body.replace('"still here"', EMPTIES)
const REFUSED = 'the message has more than 100000 objects and lists'

function post(path: string, body: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    ...headers,
    'content-length': body.length,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Opens an HTTP+SSE stream; returns it and the path for messages. */
async function openSse(port: number): Promise<{ readonly stream: Line; readonly path: string }> {
  const stream = new Line(port).write(
    'GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n',
  )
  await stream.heard('sessionId=')
  return { stream, path: /data: (\S+)/.exec(stream.said)?.[1] as string }
}

const SENDERS: Readonly<Record<string, (port: (name: string) => number, body: string) => Promise<Line>>> = {
  tcp: async (port, body) => new Line(port('tcp')).write(`${CALL.body}\n${body}\n`),
  ws: async (port, body) => new Line(port('ws')).write(handshake(port('ws'))).write(frame(body)),
  http: async (port, body) => new Line(port('http')).write(post('/mcp', body, CALL.headers)),
  'http in a batch': async (port, body) =>
    new Line(port('http')).write(post('/mcp', `[${body}]`, { accept: CALL.headers['accept'] as string })),
  sse: async (port, body) => {
    const { stream, path } = await openSse(port('http'))
    new Line(port('http')).write(post(path, initialize('2024-11-05'), {}))
    await stream.heard('protocolVersion')
    new Line(port('http')).write(post(path, body, {}))
    return stream
  },
  gist: async (port, body) => new Line(port('http')).write(post('/gist', body, {})),
}

test.each(Object.keys(SENDERS))(
  'M.values limits.containers millions of empty objects in one message are refused before they take memory over %s',
  { timeout: 120_000 },
  async (name) => {
    const { port } = await startSmall()
    const line = await SENDERS[name]!(port, FULL)
    expect(await line.heard(REFUSED)).toContain(REFUSED)
    const next = await SENDERS['tcp']!(port, CALL.body)
    expect(await next.heard('still here')).toContain('still here')
  },
)

test.each([
  ['values', `[${'{},'.repeat(300_000)}{}]`],
  ['characters', JSON.stringify('x'.repeat(9_000_000))],
])(
  'limits.inFlightBytes requests whose messages hold too many %s together are rejected, over tcp and http, and small ones served',
  { timeout: 120_000 },
  async (_, text) => {
    const { port } = await startSmall({ inFlightBytes: 50_000_000, containers: 1_000_000 })
    const waits = (id: number): ReturnType<typeof headed> => {
      const { body, headers } = headed('tools/call', { name: 'wait', arguments: { text: 'x' } }, id)
      return { body: body.replace('"x"', text), headers }
    }
    const tcp = new Line(port('tcp'))
    for (let id = 1; id <= 20; id++) tcp.write(`${waits(id).body}\n`)
    tcp.write(`${CALL.body}\n`)
    expect(await tcp.heard('"id":7,"result"')).toContain('still here')
    const rejected = tcp.said.split('"code":1002').length - 1
    // Each message counts once in its error and once in the refusal.
    expect(rejected / 2).toBeGreaterThan(10)
    expect(rejected / 2).toBeLessThan(20)
    // Another caller of the same network has room left, until the share of the network is used up.
    const others = Array.from({ length: 8 }, () =>
      new Line(port('http')).write(post('/mcp', waits(1).body, waits(1).headers)).heard('"code":1002'),
    )
    expect(await Promise.any(others)).toMatch(
      /^HTTP\/1.1 429 [\s\S]*the requests in flight are too large together/,
    )
    const { body, headers } = CALL
    expect(await new Line(port('http')).write(post('/mcp', body, headers)).heard('still')).toContain(
      'still here',
    )
  },
)

test.each(['fetch', 'node'] as const)(
  'M.values limits.values and limits.containers apply to a mount of %s too, even to a body that a framework has parsed',
  async (mount) => {
    const limits = { values: 30, containers: 12 }
    const app = createServer({ name: 'small', version: '1', limits, log: () => undefined })
    onTestFinished(() => app.close())
    app.tool('echo', { input: { type: 'object' } }, () => 'still here')
    const node = app.node()
    const http = createHttpServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.once('end', () => node(Object.assign(request, { body: JSON.parse(body) as unknown }), response))
    })
    onTestFinished(() => void http.close())
    const url = `http://localhost:${await listen(http)}/mcp`
    const send = async (values: number, item = '0'): Promise<unknown> => {
      const own = valuesOf(CALL.body)
      const items = Array.from({ length: values - own }, () => item)
      const body = CALL.body.replace('"still here"', `[${items.join()}]`)
      expect(valuesOf(body)).toBe(values)
      const request = new Request(url, { method: 'POST', body, headers: CALL.headers })
      return (await (mount === 'fetch' ? app.fetch(request) : fetch(request))).json()
    }
    for (const values of [29, 30])
      expect(await send(values)).toMatchObject({ result: { content: [{ text: 'still here' }] } })
    expect(await send(31)).toMatchObject({
      error: { code: -32600, message: 'the message has more than 30 values' },
    })
    const opened = CALL.body.match(/[[{]/g)!.length + 1
    const most = valuesOf(CALL.body) + 12 - opened
    expect(await send(most, '[]')).toMatchObject({ result: { content: [{ text: 'still here' }] } })
    expect(await send(most + 1, '[]')).toMatchObject({
      error: { code: -32600, message: 'the message has more than 12 objects and lists' },
    })
  },
)

function valuesOf(text: string): number {
  let count = 0
  JSON.parse(text, (_, value: unknown) => (count++, value))
  return count
}
