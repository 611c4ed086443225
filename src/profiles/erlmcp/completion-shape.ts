import { copyOf } from '../../base/copy-of.ts'
import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { DESCRIPTIONS } from '../../protocol/meta.ts'
import type { CreateAdapter } from '../adapter.ts'

/** Writes and reads completions as a list of values with their descriptions. */
export const completionShape: CreateAdapter = (choices) => {
  if (choices.completionShape !== 'listed') return undefined
  return {
    encodeResult: (method, result) => (method === 'completion/complete' ? toListed(result) : result),
    decodeResult: (method, result) => (method === 'completion/complete' ? fromListed(result) : result),
  }
}

function toListed(result: JsonObject): JsonObject {
  const { completion, _meta, ...rest } = result
  if (!isObject(completion)) return result
  const { [DESCRIPTIONS]: list, ...meta } = (_meta ?? {}) as JsonObject
  const descriptions = (list ?? []) as readonly (string | null)[]
  const values = (completion['values'] as readonly string[]).map((value, at) => {
    const description = descriptions[at] ?? undefined
    return description === undefined ? { value } : { value, description }
  })
  return { ...rest, ...completion, values, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }
}

function fromListed(result: JsonObject): JsonObject {
  const { values, total, hasMore } = result
  if (!Array.isArray(values) || result['completion'] !== undefined) return result
  const texts = values.map((value: unknown) => (isObject(value) ? value['value'] : value))
  const counted = { ...(total === undefined ? {} : { total }), ...(hasMore === undefined ? {} : { hasMore }) }
  const rest = copyOf(result, 'values', 'total', 'hasMore')
  return Object.assign(rest, { completion: { values: texts, ...counted } })
}
