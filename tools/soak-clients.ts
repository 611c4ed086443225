import { randomInt, randomUUID } from 'node:crypto'
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, type Client, type ConnectOptions } from '../src/client.ts'
import type { Revision } from '../src/protocol/revisions.ts'
import type { SoakRecord } from './soak-record.ts'
import { RUDE } from './soak-rude.ts'

/** The addresses of the server besides HTTP. */
export interface Addresses {
  readonly ws: string
  readonly tcp: string
  readonly unix: string
  readonly tls: string
}

export interface ClientParts {
  readonly url: string
  readonly addresses: Addresses
  /** The fingerprint of the server's certificate. */
  readonly pin: string
  /** How to start the server over stdio. */
  readonly program: { readonly command: string; readonly args: readonly string[] }
  readonly record: SoakRecord
  /** Whether it is time to stop. */
  over(): boolean
}

const CALLS = ['echo', 'slow', 'steps', 'large', 'refuse', 'break', 'change', 'cancel', 'unknown'] as const
const OLD: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Runs all clients of a soak; resolves when they are done. */
export async function runClients(parts: ClientParts): Promise<void> {
  const { url, program, addresses, pin } = parts
  const { ws, tcp, unix, tls } = addresses
  const sse = new URL('/sse', url).href
  await Promise.all([
    ...([...OLD, '2026-07-28', '2026-07-28'] as const).map((revision) => visit(url, revision, parts)),
    visit(program, '2025-11-25', parts),
    visit(program, '2026-07-28', parts),
    visit(sse, '2024-11-05', parts),
    visit(sse, '2025-06-18', parts),
    visit(ws, '2025-11-25', parts),
    visit(ws, '2026-07-28', parts),
    visit(tcp, '2025-11-25', parts),
    visit(tcp, '2026-07-28', parts, { connections: 3 }),
    visit(unix, '2025-11-25', parts),
    visit(tls, '2026-07-28', parts, { tls: { pin } }),
    repeat(parts, () => abandon(parts)),
    repeat(parts, () => disconnectMidCall(parts)),
    repeat(parts, () => attack(parts)),
    repeat(parts, () => callStray(parts)),
    ...RUDE.map((act) => repeat(parts, () => act(parts))),
    watch(url, '2025-11-25', parts),
    watch(url, '2026-07-28', parts),
    watch(sse, '2024-11-05', parts),
    watch(ws, '2025-11-25', parts),
    watch(tcp, '2026-07-28', parts),
  ])
}

async function repeat(parts: ClientParts, act: () => Promise<void>): Promise<void> {
  while (!parts.over()) {
    await act().catch((error: unknown) => parts.record.fail('raw', '', error))
    await pause(randomInt(5, 60))
  }
}

/** Repeatedly connects, makes some calls, several at a time, and closes. */
async function visit(
  target: string | ClientParts['program'],
  revision: Revision,
  parts: ClientParts,
  options: ConnectOptions = {},
): Promise<void> {
  const { record } = parts
  while (!parts.over()) {
    try {
      const client = await connect(target, { revision, timeout: 20_000, ...options })
      const calls = randomInt(20, 300)
      for (let made = 0; made < calls && !parts.over(); made += 4) {
        await Promise.all([1, 2, 3, 4].map(() => callOnce(client, record)))
      }
      await client.close()
    } catch (error) {
      record.fail('connect', '', error)
      await pause(200)
    }
  }
}

async function callOnce(client: Client, record: SoakRecord): Promise<void> {
  const kind = CALLS[randomInt(CALLS.length)]!
  const token = randomUUID()
  if (kind !== 'cancel')
    return record.call(kind, token, client.call(kind === 'unknown' ? 'nothing' : kind, { token }))
  const controller = new AbortController()
  const answer = client.call('slow', { token, ms: 5000 }, { signal: controller.signal })
  setTimeout(() => controller.abort(), randomInt(1, 30))
  await record.call(kind, token, answer)
}

/** Repeatedly subscribes to a resource for a while. */
async function watch(target: string, revision: Revision, parts: ClientParts): Promise<void> {
  while (!parts.over()) {
    try {
      const client = await connect(target, { revision })
      const stop = await client.subscribe('note://one', () => parts.record.note('notice', true))
      await pause(randomInt(500, 3000))
      await stop()
      await client.close()
    } catch (error) {
      parts.record.fail('watch', '', error)
      await pause(200)
    }
  }
}

/** Opens a session and never uses it. */
async function abandon({ url, record }: ClientParts): Promise<void> {
  const { status } = await post(url, initialize())
  record.note(`abandoned session, ${status}`, status === 200)
}

/** Disconnects in the middle of a call, with and without a reset. */
async function disconnectMidCall({ url, record }: ClientParts): Promise<void> {
  const call = modern('tools/call', { name: 'steps', arguments: { token: 'gone' } })
  const sent = begin(url, call.body, call.headers)
  sent.on('error', () => undefined)
  await pause(randomInt(0, 12))
  if (randomInt(2) === 0) sent.destroy()
  else sent.socket?.resetAndDestroy()
  record.note('disconnected in a call', true)
}

/** Calls the tool that leaves an unhandled rejection. */
async function callStray({ url, record }: ClientParts): Promise<void> {
  const token = randomUUID()
  const { body, headers } = modern('tools/call', { name: 'stray', arguments: { token } })
  const { status, text } = await post(url, body, headers)
  record.note('stray error', status === 200 && text.includes(token))
  await pause(200)
}

const ATTACKS: readonly (() => { readonly body: string; readonly headers?: object })[] = [
  () => ({ body: '{' }),
  () => ({ body: '['.repeat(100_000) }),
  () => ({ body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}' }),
  () => ({ body: '{"jsonrpc":"2.0","id":{},"method":"ping"}' }),
  () => ({ body: message('ping', {}), headers: { 'mcp-session-id': '__proto__' } }),
  () => ({ body: message('ping', {}), headers: { 'mcp-session-id': randomUUID() } }),
  () => ({ body: message('tools/list', {}), headers: { origin: 'https://evil.example' } }),
  () => ({ body: message('tools/list', {}), headers: { 'content-type': 'text/plain' } }),
  () => ({ body: message('tools/list', {}), headers: { 'mcp-protocol-version': '1999-01-01' } }),
  () => ({ body: modern('tools/list', {}).body, headers: { 'mcp-method': 'tools/call' } }),
  () => modern('constructor', {}),
  () => ({ body: `[${Array.from({ length: 500 }, () => message('ping', {})).join(',')}]` }),
]

/** Sends something that must be refused with a 4xx status. */
async function attack({ url, record }: ClientParts): Promise<void> {
  const which = randomInt(ATTACKS.length)
  const { body, headers } = ATTACKS[which]!()
  const { status } = await post(url, body, headers)
  record.note(`attack ${which}, ${status}`, status >= 400 && status < 500)
}

function message(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function initialize(): string {
  const clientInfo = { name: 'soak', version: '1' }
  return message('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
}

function modern(method: string, params: object): { readonly body: string; readonly headers: object } {
  const version = 'io.modelcontextprotocol/protocolVersion'
  const capabilities = 'io.modelcontextprotocol/clientCapabilities'
  const _meta = { [version]: '2026-07-28', [capabilities]: {}, progressToken: 't' }
  const { name } = params as { name?: string }
  const named = name === undefined ? {} : { 'mcp-name': name }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named }
  return { body: message(method, { ...params, _meta }), headers }
}

function begin(url: string, body: string, headers: object = {}): ClientRequest {
  const sent = httpRequest(url, { method: 'POST', headers: { ...ACCEPT, ...headers }, agent: false })
  sent.end(body)
  return sent
}

async function post(
  url: string,
  body: string,
  headers?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    begin(url, body, headers).once('response', resolve).once('error', reject)
  })
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return { status: response.statusCode ?? 0, text }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
