import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

const KINDS: ReadonlyMap<string, string> = new Map([
  ['id method', 'request'],
  ['id method params', 'request'],
  ['method', 'notification'],
  ['method params', 'notification'],
  ['id result', 'result'],
  ['id error', 'error'],
])

/** The kind of a message according to JSON-RPC 2.0; an invalid message is returned as JSON. */
export function kindOf(message: JsonObject): string {
  const { jsonrpc, id, method, error } = message
  const members = ['id', 'method', 'params', 'result', 'error'].filter((name) => name in message)
  const kind = KINDS.get(members.join(' '))
  const isId = !('id' in message) || typeof id === 'string' || Number.isInteger(id)
  const isMethod = !('method' in message) || typeof method === 'string'
  const isValid = jsonrpc === '2.0' && isId && isMethod && (kind !== 'error' || isError(error))
  return kind !== undefined && isValid ? kind : JSON.stringify(message)
}

function isError(error: unknown): boolean {
  const { code, message } = (error ?? {}) as JsonObject
  return Number.isInteger(code) && typeof message === 'string'
}
