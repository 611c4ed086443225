import type { WireAdapter } from '../protocol/wire-adapter.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** Converts outgoing messages to the form of a revision. */
export interface Forms {
  request(method: string, params: JsonObject): JsonObject
  result(method: string, result: JsonObject): JsonObject
  notification(method: string, params: JsonObject): JsonObject
  /** The wire adapter of a profile, which also converts incoming messages. */
  readonly adapter?: WireAdapter | undefined
}

const same = (_: string, value: JsonObject): JsonObject => value

/** The client builds messages in the form of the newest revision, so nothing is converted. */
export const NEWEST: Forms = { request: same, result: same, notification: same }
