import type { WireAdapter } from '../protocol/wire-adapter.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** How what the client sends becomes what a revision wants. */
export interface Forms {
  request(method: string, params: JsonObject): JsonObject
  result(method: string, result: JsonObject): JsonObject
  notification(method: string, params: JsonObject): JsonObject
  /** What a profile makes of that, and of what comes. */
  readonly adapter?: WireAdapter | undefined
}

const same = (_: string, value: JsonObject): JsonObject => value

/** At the newest revision everything has its form already. */
export const NEWEST: Forms = { request: same, result: same, notification: same }
