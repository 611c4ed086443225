import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isRequest } from '../message.ts'
import { type EventStream, HttpChannel, HttpExchange } from './http-exchange.ts'
import { react, type Behaviour } from './scenario.ts'
import type { Served } from './serve.ts'
import { NOT_HTTP, type Channel } from './turn.ts'
import type { HttpSeen, Seen, Visit } from './visit.ts'

/** The most bytes of one body that are read. */
const MOST_BODY = 4_000_000
/** The most characters of a path; that of a login page has long parameters. */
const MOST_PATH = 4_000
/** The session that our server gives to clients before 2026-07-28. */
export const SESSION_ID = 'validator-session-1'

interface Stage {
  readonly visit: Visit
  readonly behaviour: Behaviour
}

/** Serves Streamable HTTP, or HTTP+SSE, on a free port of this machine. */
export async function serveHttp(stage: Stage): Promise<Served> {
  const older = stage.visit.transport === 'sse' ? new OlderStreams(stage) : undefined
  let count = 0
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    readBody(request, stage.visit)
      .then(async (body) => {
        const http = seenRequest(request)
        const stream = `${http.method} ${++count}`
        const seen = stage.visit.take(body, stream, http)
        if (seen === undefined) {
          response.destroy()
          return
        }
        const exchange = new HttpExchange({ ...seen, http }, stage.visit, response)
        if ((await stage.behaviour.http?.(exchange)) === true) return
        if (older !== undefined) await older.handle(exchange)
        else await handle(exchange, stage)
      })
      // Whatever a client sends, the validator goes on.
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}${older === undefined ? '/mcp' : '/sse'}`
  stage.visit.url = url
  return {
    address: { transport: stage.visit.transport, url },
    close: () => closeServer(server),
  }
}

export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

export function seenRequest(request: IncomingMessage): HttpSeen {
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return {
    method: request.method ?? '',
    path: (request.url ?? '').slice(0, MOST_PATH),
    headers: Object.fromEntries(headers),
  }
}

export async function readBody(request: IncomingMessage, visit: Visit): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MOST_BODY || !visit.receive(chunk.length)) request.destroy()
    else chunks.push(chunk)
  })
  await new Promise<void>((resolve) => {
    request.on('end', resolve)
    request.on('close', resolve)
    request.on('error', () => resolve())
  })
  return Buffer.concat(chunks).toString('utf8')
}

/** Streamable HTTP as the usual server speaks it. */
async function handle(exchange: HttpExchange, stage: Stage): Promise<void> {
  const { visit, seen } = exchange
  if (seen.http.path.split('?')[0] !== '/mcp') return exchange.answer(404)
  if (seen.http.method === 'GET' && !visit.isModern && !isLost(seen)) {
    exchange.events().raw(': open\n\n')
    return
  }
  if (seen.http.method === 'DELETE' && !visit.isModern) return exchange.answer(200)
  if (seen.http.method !== 'POST') return exchange.answer(405, '', { allow: 'POST' })
  const requests = seen.messages.filter(isRequest)
  if (requests.length === 0) {
    await react(seen, SILENT, stage)
    return exchange.answer(seen.messages.length === 0 ? 400 : 202)
  }
  const isGreeting = requests.some(({ method }) => method === 'initialize') && !visit.isModern
  const headers = { ...(isGreeting && { 'mcp-session-id': SESSION_ID }), ...stage.behaviour.headers }
  await react(seen, new HttpChannel(exchange, headers, requests.length), stage)
}

/** Whether a client wants the rest of a stream, which the usual server does not keep. */
function isLost({ http }: Seen): boolean {
  return http?.headers['last-event-id'] !== undefined
}

/** For messages that get no response. */
const SILENT: Channel = {
  stream: '',
  send: () => Promise.resolve(),
  finish: () => Promise.resolve(),
  ...NOT_HTTP,
}

/** HTTP+SSE of 2024-11-05: one stream of events, and POSTs to the place that it names. */
class OlderStreams {
  readonly #stage: Stage
  #last: EventStream | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async handle(exchange: HttpExchange): Promise<void> {
    const { method, path } = exchange.seen.http
    const place = path.split('?')[0]
    if (place === '/sse' && method === 'GET') {
      this.#last = exchange.events()
      this.#last.event({ type: 'endpoint', data: '/messages?session=1' })
      return
    }
    if (place !== '/messages' || method !== 'POST') return exchange.answer(place === '/sse' ? 405 : 404)
    exchange.answer(202)
    const events = this.#last
    if (events === undefined) return
    const send = async (text: string): Promise<void> => events.event({ type: 'message', data: text })
    await react(exchange.seen, { stream: exchange.seen.stream, send, finish: send, ...NOT_HTTP }, this.#stage)
  }
}
