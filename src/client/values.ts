import type { JsonObject } from '../protocol/jsonrpc.ts'
import { VENDOR } from '../protocol/meta.ts'
import { printable } from '../errors/printable.ts'
import { ToolError } from '../errors/tool-error.ts'

/** The value of a call: its structured content if there is any, its text if that is the only block, or else all blocks. */
export function toValue(result: JsonObject): unknown {
  if (result['isError'] === true) throw toToolError(result)
  if (result['structuredContent'] !== undefined) return result['structuredContent']
  const content = result['content'] as readonly { readonly type: string; readonly text?: unknown }[]
  const [only] = content
  return content.length === 1 && only?.type === 'text' && typeof only.text === 'string' ? only.text : content
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
