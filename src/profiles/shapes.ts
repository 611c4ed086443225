import { copyOf } from '../base/copy-of.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'

/** The object with one member changed, if that is an object. */
export function changed(
  value: JsonObject,
  name: string,
  step: (member: JsonObject) => JsonObject,
): JsonObject {
  const member = value[name]
  return isObject(member) ? Object.assign(copyOf(value), { [name]: step(member) }) : value
}

/** The object with every object in one of its lists changed. */
export function eachOf(value: JsonObject, name: string, step: (item: JsonObject) => JsonObject): JsonObject {
  const items = value[name]
  if (!Array.isArray(items)) return value
  const changed = items.map((item: unknown) => (isObject(item) ? step(item) : item))
  return Object.assign(copyOf(value), { [name]: changed })
}
