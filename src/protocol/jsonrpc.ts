/** The JSON-RPC version that every message names. */
export const JSONRPC = '2.0'

/** A request id as on the wire. Integers too large for a number are read as bigint, so no digit is lost. */
export type RequestId = string | number | bigint

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
/** An object as JSON has it: values by key. The values are not checked by the type. */
export interface JsonObject {
  readonly [key: string]: unknown
}

export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A message as received. Members that its kind does not have are undefined. */
export interface Message {
  readonly id?: RequestId
  readonly method?: string
  readonly params?: JsonObject | null
  readonly result?: JsonObject
  readonly error?: ErrorObject
}

/** The id as JSON text. Replies echo it, and it is the key of a request in flight. */
export function idText(id: RequestId): string {
  return typeof id === 'string' ? JSON.stringify(id) : String(id)
}

/**
 * The most members of a message, of params, of a result and of their `_meta`, which have few: to copy, cache and weigh more of them
 * takes several times as long as to parse them.
 */
export const MAX_MEMBERS = 10_000

/** Whether a value is an object with more members than any such object has. */
export function isWide(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > MAX_MEMBERS
}

/** Whether a value is a JSON object, and not a list or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
