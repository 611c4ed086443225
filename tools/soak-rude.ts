import { randomInt, randomUUID } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as dial, type NetConnectOpts, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ClientParts } from './soak-clients.ts'

/** Something that a misbehaving client does. */
type Rude = (parts: ClientParts) => Promise<void>

/** Clients that die, stall, or send partial or invalid messages; each is repeated during a soak. */
export const RUDE: readonly Rude[] = [
  (parts) => dieOnSocket(parts, 'TCP'),
  (parts) => dieOnSocket(parts, 'Unix'),
  (parts) => stallOnSocket(parts),
  (parts) => halfClose(parts),
  (parts) => sendJunk(parts),
  (parts) => dieOnWebSocket(parts),
  (parts) => stallOnWebSocket(parts),
  (parts) => sendJunkOnWebSocket(parts),
  (parts) => dieOnSse(parts),
  (parts) => stallOnSse(parts),
  (parts) => stallOnHttp(parts),
]

const LARGE_CALLS = 100
const ANSWER_MS = 20_000
const INITIALIZE = messageText('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'rude', version: '1' },
})

/** Disconnects in the middle of some calls, with and without a reset. */
async function dieOnSocket(parts: ClientParts, transport: 'TCP' | 'Unix'): Promise<void> {
  const socket = await openSocket(transport === 'TCP' ? portOf(parts) : { path: pathOf(parts) })
  socket.resume()
  socket.write(lines(INITIALIZE, callText('steps'), callText('slow')))
  if (randomInt(3) === 0) socket.write('{"jsonrpc":"2.0","id":"half","meth')
  await pause(randomInt(0, 15))
  if (randomInt(2) === 0 || transport === 'Unix') socket.destroy()
  else socket.resetAndDestroy()
  parts.record.note(`died on ${transport}`, true)
}

/** Requests more than a server can buffer and reads none of it. */
async function stallOnSocket(parts: ClientParts): Promise<void> {
  const socket = await openSocket(portOf(parts))
  socket.pause()
  socket.write(lines(INITIALIZE, ...Array.from({ length: LARGE_CALLS }, () => callText('large'))))
  await pause(randomInt(100, 1500))
  socket.destroy()
  parts.record.note('stalled on TCP', true)
}

/** Half-closes the connection; pending requests must still be answered. */
async function halfClose(parts: ClientParts): Promise<void> {
  const socket = await openSocket(portOf(parts), true)
  const tokens = Array.from({ length: 8 }, () => randomUUID())
  let received = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (received += piece))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS)
  socket.end(lines(INITIALIZE, ...tokens.map((token) => callText('slow', token))))
  await closed
  clearTimeout(timer)
  const answered = tokens.filter((token) => received.includes(`"text":"${token}"`)).length
  parts.record.note('half-closed and answered', answered === tokens.length)
}

/** Sends a message and then invalid lines; each of these is rejected, and the next valid one is answered. */
async function sendJunk(parts: ClientParts): Promise<void> {
  const socket = await openSocket(portOf(parts))
  socket.write(
    lines(
      INITIALIZE,
      '{',
      '',
      'nothing',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
      pingText('after'),
    ),
  )
  const received = await readUntil(socket, (text) => text.includes('"after"'))
  socket.destroy()
  parts.record.note(
    'junk on TCP',
    received.split('"error":{').length - 1 === 3 && received.includes('"result"'),
  )
}

async function dieOnWebSocket(parts: ClientParts): Promise<void> {
  const socket = await openWebSocket(parts)
  for (const text of [INITIALIZE, callText('steps'), callText('slow')]) socket.send(text)
  await pause(randomInt(0, 15))
  if (randomInt(2) === 0) socket.terminate()
  else socket.close()
  parts.record.note('died on WebSocket', true)
}

async function stallOnWebSocket(parts: ClientParts): Promise<void> {
  const socket = await openWebSocket(parts)
  socket.pause()
  socket.send(INITIALIZE)
  for (let call = 0; call < LARGE_CALLS; call++) socket.send(callText('large'))
  await pause(randomInt(100, 1500))
  socket.terminate()
  parts.record.note('stalled on WebSocket', true)
}

/** Sends invalid text, which is refused, and bytes, which close the connection with code 1003. */
async function sendJunkOnWebSocket(parts: ClientParts): Promise<void> {
  const socket = await openWebSocket(parts)
  const received: string[] = []
  socket.on('message', (data: Buffer) => received.push(data.toString('utf8')))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const timer = setTimeout(() => socket.terminate(), ANSWER_MS)
  socket.send('{')
  socket.send(pingText('after'))
  socket.send(Buffer.from([1, 2, 3]))
  const code = await closed
  clearTimeout(timer)
  parts.record.note(`junk on WebSocket, closed with ${code}`, code === 1003 && received.length === 2)
}

/** Opens an HTTP+SSE stream, makes a call, and disconnects. */
async function dieOnSse(parts: ClientParts): Promise<void> {
  const { response, address } = await openSse(parts)
  response.resume()
  for (const text of [INITIALIZE, callText('steps')]) await post(address, text)
  await pause(randomInt(0, 15))
  response.destroy()
  parts.record.note('died on SSE', true)
}

async function stallOnSse(parts: ClientParts): Promise<void> {
  const { response, address } = await openSse(parts)
  response.pause()
  await post(address, INITIALIZE)
  const statuses = await Promise.all(Array.from({ length: 30 }, () => post(address, callText('large'))))
  await pause(randomInt(100, 1500))
  response.destroy()
  parts.record.note(
    'stalled on SSE',
    statuses.every((status) => status === 202 || status === 503),
  )
}

/** Makes calls over HTTP and never reads the answers. */
async function stallOnHttp({ url, record }: ClientParts): Promise<void> {
  const response = await send(url, INITIALIZE)
  response.resume()
  const session = String(response.headers['mcp-session-id'])
  const unread = await Promise.all(
    Array.from({ length: 10 }, () => send(url, callText('large'), { 'mcp-session-id': session })),
  )
  await pause(randomInt(100, 1500))
  for (const one of unread) one.destroy()
  record.note(
    'stalled on HTTP',
    unread.every(({ statusCode }) => statusCode === 200),
  )
}

function portOf({ addresses }: ClientParts): NetConnectOpts {
  const { hostname, port } = new URL(addresses.tcp)
  return { host: hostname, port: Number(port) }
}

function pathOf({ addresses }: ClientParts): string {
  return new URL(addresses.unix).pathname
}

function openSocket(address: NetConnectOpts, allowHalfOpen = false): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = dial({ ...address, allowHalfOpen })
    socket.once('connect', () => resolve(socket))
    socket.on('error', reject)
  })
}

function openWebSocket({ addresses }: ClientParts): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(addresses.ws, 'mcp', { perMessageDeflate: false })
    socket.once('open', () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Reads until the text is complete or the time is up. */
function readUntil(socket: Socket, isDone: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const timer = setTimeout(() => resolve(text), ANSWER_MS)
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (!isDone(text)) return
      clearTimeout(timer)
      resolve(text)
    })
  })
}

/** Opens an HTTP+SSE stream; returns it with the address for messages. */
async function openSse({
  url,
}: ClientParts): Promise<{ readonly response: IncomingMessage; readonly address: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(new URL('/sse', url), { headers: { accept: 'text/event-stream' }, agent: false })
    sent.once('response', resolve).on('error', reject).end()
  })
  response.on('error', () => undefined)
  const text = await new Promise<string>((resolve) => {
    response.once('data', (bytes: Buffer) => resolve(bytes.toString('utf8')))
  })
  const path = /data: (\S+)/.exec(text)?.[1]
  if (path === undefined) throw new Error(`no address on the stream: ${text}`)
  return { response, address: new URL(path, url).href }
}

async function post(url: string, body: string): Promise<number> {
  const response = await send(url, body)
  response.resume()
  return response.statusCode ?? 0
}

function send(url: string, body: string, headers: object = {}): Promise<IncomingMessage> {
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: { ...accept, ...headers }, agent: false })
    sent.once('response', resolve).on('error', reject).end(body)
  })
}

function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}

function messageText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params })
}

function callText(name: string, token: string = randomUUID()): string {
  return messageText('tools/call', { name, arguments: { token }, _meta: { progressToken: 't' } })
}

function pingText(id: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
