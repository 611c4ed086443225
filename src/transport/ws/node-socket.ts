import type { ClientRequest, IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { WebSocket, type ClientOptions } from 'ws'
import { clientTls, type SecureClient } from '../tls/client.ts'
import { checkFragment, explain } from '../tls/problems.ts'
import { everyMs } from '../io/timer.ts'
import { readCount } from './backlog.ts'
import type { ClientSocket, DialOptions } from './client-socket.ts'
import { noteReply, rejectionText, replyOf } from './rejections.ts'

export { openAuthorized } from './authorized.ts'
export { Inbox } from '../io/inbox.ts'
export { ClientSession as Session } from './client-session.ts'
export { extrasOf } from './rejections.ts'

/** The options of the library, including those missing from its types. */
interface Settings extends ClientOptions {
  readonly closeTimeout: number
  readonly autoPong: boolean
}

/** How long a server has to complete the closing handshake. */
const FAREWELL_MS = 2000
const LARGEST = 2 ** 31 - 1

/** Opens a WebSocket that rejects messages as soon as they are too large, and detects a dead server. */
export function dial(url: URL, options: DialOptions): ClientSocket {
  checkFragment(url)
  const { protocols, headers, tls, maxBytes, heartbeatMs, session } = options
  const secure = url.protocol === 'wss:' ? clientTls(url.hostname.replace(/^\[|\]$/g, ''), tls) : undefined
  let rejection: IncomingMessage | undefined
  const settings: Settings = {
    ...(secure?.settings as object | undefined),
    finishRequest(request) {
      request.prependOnceListener('response', (response) => (rejection = response))
      if (secure === undefined) request.end()
      else endSecurely(request, secure)
    },
    headers: { ...headers, ...(session !== undefined && sessionHeaders(session)) },
    maxPayload: Math.min(maxBytes, LARGEST),
    perMessageDeflate: false,
    followRedirects: false,
    autoPong: false,
    closeTimeout: FAREWELL_MS,
  }
  const socket = new WebSocket(url, [...protocols], settings)
  keepAlive(socket, heartbeatMs)
  answerPings(socket)
  const client = socket as ClientSocket
  client.deliver = (text) => new Promise((resolve) => socket.send(text, () => resolve()))
  for (const event of ['ping', 'pong'] as const) socket.on(event, () => client.onControl?.())
  socket.on('error', (error) => rejection && noteReply(error, rejection))
  if (session !== undefined) follow(socket, options)
  return client
}

/** The remedy for a failed connection. */
export function remedyOf(cause: unknown, url: URL): string | undefined {
  const reply = replyOf(cause)
  if (reply !== undefined) return rejectionText(reply)
  return cause instanceof Error ? explain(cause, url) : undefined
}

/** Sends the request only after the server's certificate was checked. */
function endSecurely(request: ClientRequest, { problemOf }: SecureClient): void {
  request.once('socket', (socket) => {
    socket.once('secureConnect', () => {
      const problem = problemOf(socket as TLSSocket)
      if (problem === undefined) request.end()
      else request.destroy(new Error(problem))
    })
  })
}

function sessionHeaders({ id, count }: NonNullable<DialOptions['session']>): Record<string, string> {
  return { ...(id !== undefined && { 'mcp-session-id': id }), 'last-event-id': String(count) }
}

/** Reads the session from the headers of the server's reply. */
function follow(socket: WebSocket, { onSession, onPong }: DialOptions): void {
  socket.once('upgrade', ({ headers }) => {
    const id = headers['mcp-session-id']
    const count = readCount(headers['last-event-id'] as string | undefined)
    if (typeof id === 'string' && count !== undefined) onSession?.({ id, count })
  })
  socket.on('pong', (payload) => onPong?.(payload.toString()))
}

/** Answers only the latest ping, so that pongs to a server that does not read them do not pile up. */
function answerPings(socket: WebSocket): void {
  let latest: Buffer | undefined
  let isAnswering = false
  const answer = (): void => {
    isAnswering = latest !== undefined && socket.readyState === socket.OPEN
    if (!isAnswering) return
    const payload = latest
    latest = undefined
    socket.pong(payload, true, answer)
  }
  socket.on('ping', (payload) => {
    latest = payload
    if (!isAnswering) answer()
  })
}

/** Pings a silent server, and aborts the connection if it is still silent at the next check. */
function keepAlive(socket: WebSocket, everyBeatMs: number): void {
  let heard = true
  let asked = false
  const hear = (): void => void (heard = true)
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, hear)
  const timer = everyMs(everyBeatMs, () => {
    if (socket.readyState !== socket.OPEN) return
    if (!heard && asked) return socket.terminate()
    asked = !heard
    heard = false
    if (asked) socket.ping()
  })
  socket.once('close', () => clearInterval(timer))
}
