import { isContentBlock, text, type ContentBlock } from '../protocol/content.ts'
import { toRefusal } from '../protocol/error-reply.ts'
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { ToolError } from '../protocol/tool-error.ts'

/** The result of a tool without an output schema, from whatever its handler returned. */
export function toResult(value: unknown): Result {
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }], isError: false }
  if (isWholeResult(value)) return value['isError'] === undefined ? { ...value, isError: false } : value
  return { content: toContent(value), isError: false }
}

/** The result of a tool with an output schema: the value itself, and the same as text for clients that read only that. */
export function toStructuredResult(value: unknown): Result {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value,
    isError: false,
  }
}

/** Content blocks from what a handler returned or yielded. */
export function toContent(value: unknown): readonly ContentBlock[] {
  if (value === undefined || value === null) return []
  if (isContentBlock(value)) return [value]
  if (Array.isArray(value) && value.some(isContentBlock)) return value.flatMap(toContent)
  if (isLost(value)) {
    const what = typeof value === 'object' ? value.constructor.name : typeof value
    throw new TypeError(
      `a tool cannot answer with ${what}; return text, content such as image(bytes, type), or plain values`,
    )
  }
  return [text(typeof value === 'object' ? JSON.stringify(value) : String(value as string))]
}

/** Whether JSON would make nothing, or nonsense, of a value without a word. */
function isLost(value: unknown): value is object | symbol {
  if (typeof value !== 'object') return typeof value === 'function' || typeof value === 'symbol'
  return (
    [Map, Set, Promise, Error, ArrayBuffer].some((kind) => value instanceof kind) || ArrayBuffer.isView(value)
  )
}

/** Whether a value is a complete tool result rather than something to put into one. */
export function isWholeResult(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || !('content' in value)) return false
  return Array.isArray(value.content) && value.content.every(isContentBlock)
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
