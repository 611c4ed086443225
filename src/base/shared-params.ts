import type { JsonObject } from '../protocol/jsonrpc.ts'

const shared = new WeakMap<JsonObject, JsonObject>()

/** Adds `_meta` to the frozen params of a notification that many clients get, so that they are still encoded only once. */
export function withMeta(params: JsonObject, meta: JsonObject): JsonObject {
  const own = { ...params, _meta: meta }
  if (Object.isFrozen(params) && params['_meta'] === undefined) shared.set(own, params)
  return own
}

/** The params that these were made of. */
export function sharedParams(params: JsonObject): JsonObject | undefined {
  return shared.get(params)
}
