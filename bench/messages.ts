/** The revisions that the clients of the bench speak. */
export type Revision = '2025-03-26' | '2025-11-25' | '2026-07-28'

/** A request whose id and operands have fixed widths, so that they can be overwritten in place. */
export interface Numbered {
  readonly id: number
  readonly a: number
  readonly b: number
}

/** Ids have seven digits and operands and sums six, so that all requests and all answers have the same length. */
export const FIRST_ID = 1_000_000
export const ID_DIGITS = 7
export const SUM_DIGITS = 6

const CLIENT = { name: 'bench', version: '1.0.0' }

/** The metadata of every request at 2026-07-28. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Request `index` of a series; its operands differ from those of its neighbours. */
export function numbered(index: number): Numbered {
  return {
    id: FIRST_ID + index,
    a: 100_000 + ((index * 7919) % 300_000),
    b: 100_000 + ((index * 104_729) % 300_000),
  }
}

/** A tools/call of `add`. */
export function callText({ id, a, b }: Numbered, revision: Revision): string {
  return requestText(id, 'tools/call', { name: 'add', arguments: { a, b } }, revision)
}

/** The kind of request: `add`, or 4 KB of text whose start or whole is returned. */
export type Sent = 'call' | 'start' | 'echo'

/** The size of a request with a text, including its line break. */
const TEXT_BYTES = 4096

/** Request `index` of a series. A text begins with the id of its request. */
export function sentText(sent: Sent, index: number): string {
  if (sent === 'call') return callText(numbered(index), '2025-11-25')
  const { id } = numbered(index)
  const requestOf = (text: string): string => callOf(id, sent, { text })
  return requestOf(String(id).padEnd(TEXT_BYTES - 1 - requestOf('').length, FILLER))
}

const FILLER = 'The quick brown fox jumps over the lazy dog. '

/** A tools/call of any tool in a 2025 session. */
export function callOf(id: number, name: string, given: object): string {
  return requestText(id, 'tools/call', { name, arguments: given }, '2025-11-25')
}

/** A subscription to a resource. */
export function subscribeText(id: number, uri: string): string {
  return requestText(id, 'resources/subscribe', { uri }, '2025-11-25')
}

/** A ping. */
export function pingText(id: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
}

/** A call that asks for progress; its progress token is the id. */
export function progressText({ id, a, b }: Numbered, revision: Revision): string {
  const params = { name: 'add', arguments: { a, b } }
  return requestText(id, 'tools/call', params, revision, { progressToken: id })
}

/** A batch of `count` calls of `add`, starting with request `first`; only 2025-03-26 has batches. */
export function batchText(first: number, count: number): string {
  const calls = Array.from({ length: count }, (_, index) => callText(numbered(first + index), '2025-03-26'))
  return `[${calls.join(',')}]`
}

/** A tools/list. */
export function listText(id: number, revision: Revision): string {
  return requestText(id, 'tools/list', {}, revision)
}

/** The first message of a 2025 session. */
export function initializeText(id: number, revision: Revision = '2025-11-25'): string {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })
}

/** The notification that completes the handshake. */
export const INITIALIZED: string = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })

function requestText(id: number, method: string, params: object, revision: Revision, meta?: object): string {
  const _meta = revision === '2026-07-28' ? { ...meta, ...ENVELOPE } : meta
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
}
