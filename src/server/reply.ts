import { asSent } from '../base/as-sent.ts'
import { isLost } from '../base/plain-json.ts'
import { isContentBlock, text, type ContentBlock } from '../protocol/content.ts'
import { toRefusal } from '../errors/reply.ts'
import { McpError } from '../errors/error.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { ToolError } from '../errors/tool-error.ts'

/** The result of a tool without an output schema, if its handler returned text or a complete result; undefined for other values. */
export function toDirectResult(value: unknown): Result | undefined {
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }], isError: false }
  if (isWholeResult(value)) {
    // A literal has one shape however the handler built its object, and is faster to build and to encode.
    if (hasOnlyContent(value)) return { content: value['content'], isError: false }
    const structuredContent = kept(value['structuredContent'])
    const result = structuredContent === value['structuredContent'] ? value : { ...value, structuredContent }
    return result['isError'] === undefined ? { ...result, isError: false } : result
  }
  return undefined
}

/** The result of a tool without an output schema, from any other value: blocks, or plain values as JSON text. */
export function toContentResult(value: unknown): Result {
  return { content: toContent(value), isError: false }
}

/** The result of a tool with an output schema: the value itself, and as text for clients that read only text. */
export function toStructuredResult(value: unknown): Result {
  const structuredContent = kept(value)
  return {
    content: [{ type: 'text', text: toJson(structuredContent) }],
    structuredContent,
    isError: false,
  }
}

/** Content blocks from a value that a handler returned or yielded. */
export function toContent(value: unknown): readonly ContentBlock[] {
  if (value === undefined || value === null) return []
  if (isContentBlock(value)) return [value]
  if (Array.isArray(value) && value.some(isContentBlock)) return value.flatMap(toContent)
  if (typeof value === 'function' || typeof value === 'symbol') throw lost(typeof value)
  return [text(typeof value === 'object' ? toJson(kept(value)) : String(value as string))]
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new TypeError('a tool cannot return a bigint; return a number or a string', { cause })
  }
}

/** A value as its reader gets it: a date, for example, as text. Throws if JSON would lose part of it. */
export function kept<Value>(value: Value): Value {
  return changes(value) ? asSent(value) : value
}

/** Whether JSON writes part of a value in another form. Rejects objects, at any depth, that it would turn into nothing or nonsense. */
function changes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  let any = false
  if (Array.isArray(value)) {
    for (const item of value) any = (typeof item === 'object' ? changes(item) : isDropped(item)) || any
    return any
  }
  const kind = Object.getPrototypeOf(value) as object | null
  if (kind !== Object.prototype && kind !== null && isLost(value)) throw lost(value.constructor.name)
  if ('toJSON' in value) return true
  const members = value as Readonly<Record<string, unknown>>
  for (const name in members) {
    const member = members[name]
    any = (typeof member === 'object' ? changes(member) : isDropped(member)) || any
  }
  return any
}

/** Whether JSON leaves a value out, or writes null for it. */
function isDropped(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'undefined' || typeof value === 'function' || typeof value === 'symbol'
}

function lost(what: string): TypeError {
  if (what.endsWith('Error')) return new TypeError(`a tool cannot return ${what}; throw it`)
  return new TypeError(
    `a tool cannot return ${what}; return text, content such as image(bytes, type), or plain values (is an await missing?)`,
  )
}

/** Whether a value is a complete tool result rather than content for one. */
export function isWholeResult(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  const { content } = value
  return Array.isArray(content) && content.every(isContentBlock)
}

function hasOnlyContent(result: JsonObject): boolean {
  for (const name in result) if (name !== 'content') return false
  return true
}

/** A failure for the model to read. */
export function toFailure(error: McpError | ToolError): Result {
  const data = error instanceof McpError ? undefined : error.data
  const content = [text(error.message), ...(data === undefined ? [] : [text(JSON.stringify(data))])]
  const refusal = error instanceof McpError ? toRefusal(error) : undefined
  const meta = {
    ...(refusal === undefined ? {} : { [`${VENDOR}/refusal`]: refusal }),
    ...(data === undefined ? {} : { [`${VENDOR}/data`]: data }),
  }
  return { content, isError: true, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }
}
