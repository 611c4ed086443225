import { createServer as createHttp, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTcp, type AddressInfo, type Server } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { Target } from '../../src/client/target.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { LATEST, type Revision } from '../../src/protocol/revisions.ts'

/** A message of the client. */
export interface Asked {
  readonly id?: number
  readonly method?: string
  readonly params: JsonObject
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string }
}

/** The way back to the client, for one of its messages. */
export interface Wire {
  /** Sends a text as one message. */
  send(text: string | object): void
  /** Answers the message. */
  reply(result: unknown): void
  /** Goes away, as far as the way lets a server. */
  leave(): void
}

/** What a server does with a message; `false` leaves it to the well-behaved one. */
export type Attack = (asked: Asked, wire: Wire) => unknown

export type Way = 'memory' | 'stdio' | 'http'
export const WAYS: readonly Way[] = ['memory', 'stdio', 'http']
export const EARLIER = '2025-11-25'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Does something when the test is over. */
export function after(end: () => unknown): void {
  ends.push(end)
}

export interface Met {
  readonly client: Client
  /** Every message that the client sent. */
  readonly seen: Asked[]
  readonly warnings: string[]
  count(method: string): number
}

export interface MeetOptions extends ConnectOptions {
  /** What the server speaks. */
  readonly speaks?: Revision
}

/** Connects a client to a server that is well-behaved but for an attack. */
export async function meet(way: Way, attack: Attack, options: MeetOptions = {}): Promise<Met> {
  const { speaks = LATEST, ...rest } = options
  const seen: Asked[] = []
  const warnings: string[] = []
  const target = await serve(way, (asked, wire) => {
    seen.push(asked)
    if (attack(asked, wire) === false) behave(speaks, asked, wire)
  })
  const client = await connect(target, { timeout: '30s', probe: '30s', ...rest })
  client.on('warning', (text) => warnings.push(text))
  after(() => client.close())
  return { client, seen, warnings, count: (method) => seen.filter((asked) => asked.method === method).length }
}

/** A server that does with every message what an attack says. */
export function serve(way: Way, attack: Attack): Promise<Target> {
  if (way === 'memory') return Promise.resolve(inMemory(attack))
  return way === 'stdio' ? overStdio(attack) : overHttp(attack)
}

const NAME = { name: 'hostile', version: '1' }
const OFFERED = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
}

/** What a well-behaved server answers. */
export function behave(speaks: Revision, { id, method, params }: Asked, wire: Wire): void {
  if (id === undefined) return
  const known = speaks === LATEST ? method !== 'initialize' : method !== 'server/discover'
  const result = known && method !== undefined ? RESULTS.get(method)?.(params, speaks) : undefined
  if (result === undefined)
    wire.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } })
  else
    wire.reply(
      speaks === LATEST ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result } : result,
    )
}

const RESULTS: ReadonlyMap<string, (params: JsonObject, speaks: Revision) => JsonObject> = new Map<
  string,
  (params: JsonObject, speaks: Revision) => JsonObject
>([
  ['server/discover', () => ({ supportedVersions: [LATEST], capabilities: OFFERED })],
  ['initialize', (_, speaks) => ({ protocolVersion: speaks, capabilities: OFFERED, serverInfo: NAME })],
  ['ping', () => ({})],
  ['tools/list', () => ({ tools: [tool('echo')] })],
  ['tools/call', ({ arguments: args }) => text(JSON.stringify(args))],
  ['prompts/list', () => ({ prompts: [{ name: 'greet' }] })],
  ['prompts/get', () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] })],
  ['resources/list', () => ({ resources: [{ uri: 'note://one', name: 'one' }] })],
  ['resources/read', ({ uri }) => ({ contents: [{ uri, text: 'one' }] })],
  ['resources/subscribe', () => ({})],
  ['completion/complete', () => ({ completion: { values: ['a'] } })],
])

export function tool(name: string, more: JsonObject = {}): JsonObject {
  return { name, inputSchema: { type: 'object' }, ...more }
}

export function text(words: string): JsonObject {
  return { content: [{ type: 'text', text: words }] }
}

/** The text of an answer. */
export function answer(id: unknown, result: unknown): object {
  return { jsonrpc: '2.0', id, result }
}

function inMemory(attack: Attack): Target {
  return {
    connect: ({ receive }) => ({
      send: (line) =>
        attack(
          read(line),
          wireTo(read(line), (words) => queueMicrotask(() => receive(words))),
        ),
      close: () => undefined,
    }),
  }
}

async function overStdio(attack: Attack): Promise<Target> {
  const server = createTcp((socket) => {
    socket.on('error', () => undefined)
    const lines = createInterface({ input: socket })
    lines.on('error', () => undefined)
    lines.on('line', (line) =>
      attack(
        read(line),
        wireTo(
          read(line),
          (words) => socket.write(`${words}\n`),
          () => socket.end(),
        ),
      ),
    )
  })
  const port = await listen(server)
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL('relay.mjs', import.meta.url)), String(port)],
  }
}

async function overHttp(attack: Attack): Promise<string> {
  const network = await web(({ body, verb }, response) => {
    if (verb !== 'POST') return response.writeHead(verb === 'DELETE' ? 200 : 405).end()
    const asked = read(body)
    if (asked.id === undefined || asked.method === undefined) response.writeHead(202).end()
    let streaming = false
    const write = (words: string): void => {
      if (response.writableEnded) return
      if (!streaming) response.writeHead(200, { 'content-type': 'text/event-stream' })
      streaming = true
      response.write(`data: ${words}\n\n`)
    }
    const wire = wireTo(asked, write, () => response.destroy())
    return attack(asked, {
      ...wire,
      reply(result) {
        if (streaming) return wire.reply(result)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(answer(asked.id, result)))
      },
    })
  })
  return network.url
}

function wireTo({ id }: Asked, write: (words: string) => void, leave: () => void = () => undefined): Wire {
  const send = (words: string | object): void =>
    write(typeof words === 'string' ? words : JSON.stringify(words))
  return { send, reply: (result) => send(answer(id, result)), leave }
}

function read(line: string): Asked {
  return { params: {}, ...(JSON.parse(line) as Partial<Asked>) }
}

/** One HTTP request as a server sees it. */
export interface Request {
  readonly verb: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly raw: readonly string[]
}

export interface Web {
  readonly url: string
  readonly origin: string
  readonly requests: Request[]
}

/** A bare HTTP server. */
export async function web(respond: (request: Request, response: ServerResponse) => unknown): Promise<Web> {
  const requests: Request[] = []
  const server = createHttp((incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => (body += chunk))
    incoming.on('end', () => {
      const { method: verb = '', url: path = '', headers, rawHeaders: raw } = incoming
      const request = { verb, path, headers, body, raw }
      requests.push(request)
      respond(request, response)
    })
  })
  after(() => server.closeAllConnections())
  const port = await listen(server)
  const origin = `http://127.0.0.1:${port}`
  return { url: `${origin}/mcp`, origin, requests }
}

export async function listen(server: Server): Promise<number> {
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    after(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Answers an HTTP request as a well-behaved server, with a session where the revision has one. */
export function serveWell(
  { verb, body }: Request,
  response: ServerResponse,
  speaks: Revision,
  session?: string,
): void {
  if (verb !== 'POST') return void response.writeHead(verb === 'DELETE' ? 200 : 405).end()
  const asked = read(body)
  if (asked.id === undefined) return void response.writeHead(202).end()
  const send = (words: string | object): void => {
    const opens = asked.method === 'initialize' && session !== undefined
    const headers = { 'content-type': 'application/json', ...(opens ? { 'mcp-session-id': session } : {}) }
    response.writeHead(200, headers).end(typeof words === 'string' ? words : JSON.stringify(words))
  }
  behave(speaks, asked, wireTo(asked, send))
  return undefined
}

export function methodOf({ body }: Request): string | undefined {
  return body === '' ? undefined : read(body).method
}

/** What a promise is rejected with, and how long that took. */
export async function failure(
  promise: Promise<unknown>,
): Promise<Error & { readonly kind?: string; readonly ms: number }> {
  const begun = performance.now()
  try {
    await promise
  } catch (error) {
    return Object.assign(error as Error, { ms: performance.now() - begun })
  }
  throw new Error('it did not fail')
}

/** How a promise ends: the kind of its error, or `fine`. */
export async function endOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'fine'
  } catch (error) {
    const { kind, name } = error as { readonly kind?: string; readonly name: string }
    return kind ?? name
  }
}

/** All that a list brings. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Waits until something is so. */
export async function until(isSo: () => boolean, ms = 30_000): Promise<void> {
  const end = performance.now() + ms
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it never became so: ${isSo.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Lets time pass in which nothing should happen. */
export function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
