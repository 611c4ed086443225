import type { JsonObject } from '../protocol/jsonrpc.ts'
import { copyWith, storedIn } from './stored-member.ts'

const shared = new WeakMap<JsonObject, JsonObject>()

/** Adds `_meta` to the params of a notification. Frozen ones, which many clients get, are still encoded only once, and texts that are known stay so. */
export function withMeta(params: JsonObject, meta: JsonObject): JsonObject {
  if (storedIn(params) !== undefined) return copyWith(params, { _meta: meta })
  const own = { ...params, _meta: meta }
  if (Object.isFrozen(params) && params['_meta'] === undefined) shared.set(own, params)
  return own
}

/** The params that these were made of. */
export function sharedParams(params: JsonObject): JsonObject | undefined {
  return shared.get(params)
}
