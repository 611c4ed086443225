import type { Message } from '../../src/protocol/jsonrpc.ts'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach } from 'vitest'
import { CLIENT_LIMITS } from '../../src/protocol/client-limits.ts'
import { readLimits } from '../../src/base/limits.ts'
import { Deadline } from '../../src/rpc/deadline.ts'
import type { ClientTransport, TransportEvents, OutgoingRequest } from '../../src/rpc/client-transport.ts'
import { connectHttp, type HttpConnectOptions } from '../../src/transport/http/client/client.ts'

/** A request as a server made for a test sees it. */
export interface Seen {
  readonly verb: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly message: {
    readonly id?: number
    readonly method?: string
    readonly params?: { readonly name?: string }
  }
  readonly at: number
  /** Resolves when the client has left or the reply is complete. */
  readonly gone: Promise<void>
}

export type Respond = (seen: Seen, response: ServerResponse) => void

export interface Peer {
  readonly url: string
  readonly seen: Seen[]
  /** All bytes that were taken from this server so far. */
  readonly sent: number
  of(verb: string): readonly Seen[]
}

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** Does something when the test is over. */
export function after(clean: () => unknown): void {
  cleanups.push(clean)
}

/** A real server that does whatever a test wants. */
export async function serve(respond: Respond): Promise<Peer> {
  const seen: Seen[] = []
  const sockets = new Set<Socket>()
  let sent = 0
  const server = createServer((request, response) => {
    void read(request, response).then((each) => {
      seen.push(each)
      respond(each, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => (sent += socket.bytesWritten))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    get sent() {
      const open = [...sockets].filter((socket) => !socket.destroyed)
      return sent + open.reduce((sum, socket) => sum + socket.bytesWritten, 0)
    },
    of: (verb) => seen.filter((each) => each.verb === verb),
  }
}

/** A URL at which nobody listens. */
export async function vacantUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/mcp`
}

async function read(request: IncomingMessage, response: ServerResponse): Promise<Seen> {
  const gone = new Promise<void>((resolve) => response.once('close', resolve))
  const at = performance.now()
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const message = body === '' ? {} : (JSON.parse(body) as Seen['message'])
  return {
    verb: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body,
    message,
    at,
    gone,
  }
}

/** Replies with JSON. */
export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** Begins a stream of events. */
export function events(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
}

/** The text of one event. */
export function event(value: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${value === '' ? '' : JSON.stringify(value)}\n\n`
}

export function result(id: number | undefined, value: object = { done: true }): object {
  return { jsonrpc: '2.0', id, result: value }
}

export function note(n: number): object {
  return { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: n } }
}

/** A line and what it told. */
export interface Opened {
  readonly line: ClientTransport
  readonly messages: Message[]
  readonly notes: string[]
  readonly downs: Error[]
}

/** Quick enough for tests, and in the proportions of the defaults. */
export const QUICK = { floorMs: 20, firstMs: 40, maxMs: 400 }

export async function open(
  url: string,
  options: Partial<HttpConnectOptions> & { readonly bytes?: number } = {},
): Promise<Opened> {
  const opened = { messages: [] as Message[], notes: [] as string[], downs: [] as Error[] }
  const told: TransportEvents = {
    onMessage: (message) => void opened.messages.push(message),
    onDown: (reason) => void opened.downs.push(reason),
    onNote: (_, text) => void opened.notes.push(text),
  }
  const { bytes = CLIENT_LIMITS.clientBytes.usual, ...rest } = options
  const limits = readLimits(CLIENT_LIMITS, { clientBytes: bytes })
  const line = await connectHttp(url, { limits, reconnect: QUICK, ...rest })(told)
  after(() => line.close())
  return { line, ...opened }
}

let nextId = 1

/** What a test says of a request; the rest is as usual. */
export interface OutgoingParts extends Partial<Omit<OutgoingRequest, 'headers' | 'stop'>> {
  readonly params?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export function outgoing(method: string, parts: OutgoingParts = {}): OutgoingRequest {
  const { params = {}, headers = {}, signal, ...rest } = parts
  const id = rest.id ?? nextId++
  return {
    id,
    method,
    text: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    headers: () => headers,
    cancel: new Deadline({ method, idleMs: Infinity, totalMs: Infinity, signal }),
    onMessage: () => undefined,
    ...rest,
  }
}

export function ask(line: ClientTransport, method: string, parts: OutgoingParts = {}): Promise<Message> {
  return line.request(outgoing(method, parts))
}

/** What a promise is rejected with; nothing is unhandled meanwhile. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}

/** Opens a session: the peer must answer `initialize` with one. */
export async function shake(
  { line }: Opened,
  revision: '2025-03-26' | '2025-06-18' | '2025-11-25' = '2025-11-25',
): Promise<void> {
  await ask(line, 'initialize')
  line.agree(revision)
  await line.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
}

/** Answers the handshake and DELETE of a session; says whether it did. */
export function handshake({ verb, message }: Seen, response: ServerResponse, session = 'one'): boolean {
  if (message.method === 'initialize') json(response, result(message.id), 200, { 'mcp-session-id': session })
  else if (message.method === 'notifications/initialized') response.writeHead(202).end()
  else if (verb === 'DELETE') response.writeHead(200).end()
  else return false
  return true
}

/** Waits until something is so. */
export async function until(isSo: () => boolean, ms = 3000): Promise<void> {
  const end = performance.now() + ms
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it never became so')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
