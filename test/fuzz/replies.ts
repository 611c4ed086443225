import { SECRET } from './app.ts'
import { claim } from './fuzz.ts'
import { findingOf } from './oracle.ts'

/** What a text must be answered with: the ids of the replies, and how many come without one. */
export interface Expected {
  readonly ids: readonly string[]
  readonly anonymous: number
}

const DEPTH = 128

/** What a server owes for one text; `batches` where it takes several messages in one. */
export function expectedFor(text: string, batches: boolean): Expected {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return NAMELESS
  }
  const finding = findingOf(text, DEPTH)
  if (finding?.kind === 'deep' || finding?.kind === 'id') return NAMELESS
  const large = finding?.kind === 'ids' ? finding.ids : []
  if (finding?.kind === 'duplicate') return Array.isArray(value) ? NAMELESS : refused(value)
  if (!Array.isArray(value)) return owed(value, large[0])
  const opens = value.some(
    (member) => isObject(member) && (member['method'] === 'initialize' || claims(member)),
  )
  if (!batches || value.length === 0 || value.length > 100 || opens) return NAMELESS
  const all = value.map((member, at) => owed(member, large[at]))
  return {
    ids: all.flatMap(({ ids }) => ids),
    anonymous: all.reduce((sum, { anonymous }) => sum + anonymous, 0),
  }
}

/** Reads what a server sent and checks that it is well formed and tells no secrets. */
export function readReply(text: string): readonly Reply[] {
  const value: unknown = JSON.parse(text)
  claim(!LEAK.test(text), `a reply tells what it should not: ${text.slice(0, 400)}`)
  const members = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  claim(members.length > 0, 'an empty batch is sent')
  return members.map((member) => {
    claim(isObject(member) && isSent(member), `a reply is no message: ${text.slice(0, 400)}`)
    return member as Reply
  })
}

export interface Reply {
  readonly id?: string | number
  readonly method?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

/** An id as a key. Integers beyond what a number holds may fall together, here alone. */
export function keyOf(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id) : String(Number(id))
}

const NAMELESS: Expected = { ids: [], anonymous: 1 }
const NOTHING: Expected = { ids: [], anonymous: 0 }
const LEAK = new RegExp(
  `${SECRET.replaceAll(' ', '|').replaceAll('/', '\\/')}|node:internal|node_modules|\\.ts:\\d|\\n {4}at `,
)
const NAMES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

function owed(value: unknown, large: bigint | undefined): Expected {
  if (!isMessage(value, large)) return refused(value, large)
  const { id, method } = value as Reply
  return method === undefined || id === undefined ? NOTHING : { ids: [keyOf(large ?? id)], anonymous: 0 }
}

function refused(value: unknown, large?: bigint): Expected {
  const id = isObject(value) ? (large ?? value['id']) : undefined
  return isId(id) ? { ids: [keyOf(id)], anonymous: 0 } : NAMELESS
}

/** Whether a value is a message, by a definition written without looking at the code. */
export function isMessage(value: unknown, large?: bigint): boolean {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false
  const has = (name: string): boolean => Object.hasOwn(value, name)
  const { method, params, result, error } = value
  if (has('id') && !isId(large ?? value['id'])) return false
  if (Object.keys(value).some((key) => !NAMES.includes(key) && NAMES.includes(key.toLowerCase())))
    return false
  if (['method', 'result', 'error'].filter(has).length !== 1) return false
  if (has('result')) return has('id') && isObject(result) && isObject(result['_meta'] ?? {})
  if (has('error'))
    return isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string'
  if (typeof method !== 'string' || method === '') return false
  if (params === undefined || params === null) return true
  return isObject(params) && (!Object.hasOwn(params, '_meta') || isObject(params['_meta']))
}

function isSent(message: Readonly<Record<string, unknown>>): boolean {
  if (message['jsonrpc'] !== '2.0') return false
  const { id, method, result, error } = message
  if (method !== undefined)
    return (
      typeof method === 'string' &&
      isObject(message['params'] ?? {}) &&
      result === undefined &&
      error === undefined
    )
  if (result !== undefined) return isEchoed(id) && isObject(result) && error === undefined
  return (
    isObject(error) &&
    Number.isInteger(error['code']) &&
    typeof error['message'] === 'string' &&
    (id === undefined || isEchoed(id))
  )
}

/** Large integers lose digits when we read them. */
function isEchoed(id: unknown): boolean {
  return typeof id === 'string' || Number.isInteger(id) || id === Infinity || id === -Infinity
}

function claims(member: Readonly<Record<string, unknown>>): boolean {
  const params = member['params']
  const meta = isObject(params) ? params['_meta'] : undefined
  return (
    isObject(meta) &&
    ['protocolVersion', 'clientCapabilities'].some((name) =>
      Object.hasOwn(meta, `io.modelcontextprotocol/${name}`),
    )
  )
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || typeof id === 'bigint' || Number.isSafeInteger(id)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
