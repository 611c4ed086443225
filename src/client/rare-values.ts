import type { ContentLimits } from '../protocol/client-limits.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { STRUCTURED, VENDOR } from '../protocol/meta.ts'
import { printable } from '../errors/printable.ts'
import { ToolError } from '../errors/tool-error.ts'
import { scanFully } from '../wire/full-scan.ts'
import { checkValues } from '../wire/values.ts'
import { toText } from './values.ts'

/** The limits of a message, which a text inside of one obeys too. */
export type TextLimits = Pick<ContentLimits, 'depth' | 'values' | 'keys' | 'containers'>

/**
 * The value of a call whose structured content was sent in another form, of a tool with this output schema, if it is known.
 * Throws the error of a call that failed.
 */
export function toRareValue(result: JsonObject, schema: unknown, limits: TextLimits): unknown {
  if (result['isError'] === true) throw toToolError(result)
  const { structuredContent: value } = result
  const { [STRUCTURED]: form } = result['_meta'] as JsonObject
  if (value !== undefined) return form === 'result' && isWrapped(value, schema) ? value['result'] : value
  const text = toText(result)
  return form === 'text' && typeof text === 'string' ? readJson(text, limits) : text
}

/** Whether a value is `{ result }`, and the listed schema checks its member; where none is listed, nothing is checked. */
function isWrapped(value: unknown, schema: unknown): value is JsonObject {
  if (!isObject(value) || Object.keys(value).join() !== 'result') return false
  const { anyOf } = isObject(schema) ? schema : {}
  return !isObject(schema) || [schema, ...(Array.isArray(anyOf) ? (anyOf as unknown[]) : [])].some(hasResult)
}

function hasResult(schema: unknown): boolean {
  const { required, properties } = isObject(schema) ? schema : {}
  return (
    Array.isArray(required) &&
    required.includes('result') &&
    isObject(properties) &&
    Object.hasOwn(properties, 'result')
  )
}

/** The value that a text describes as JSON; the text itself if it is not JSON, or holds more than a message may. */
function readJson(text: string, limits: TextLimits): unknown {
  try {
    checkValues(text, limits)
    if (scanFully(text, limits.depth)?.kind === 'deep') return text
    return JSON.parse(text)
  } catch {
    return text
  }
}

function toToolError(result: JsonObject): ToolError {
  const content = result['content'] as readonly { readonly type: string; readonly text?: unknown }[]
  const texts = content.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  )
  const data = (result['_meta'] as JsonObject | undefined)?.[`${VENDOR}/data`]
  return new ToolError(
    printable(texts[0] ?? 'the tool failed'),
    typeof data === 'object' && data !== null ? (data as JsonObject) : undefined,
    { cause: result },
  )
}
