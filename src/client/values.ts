import type { JsonObject } from '../protocol/jsonrpc.ts'
import { STRUCTURED, VENDOR } from '../protocol/meta.ts'
import { printable } from '../errors/printable.ts'
import { ToolError } from '../errors/tool-error.ts'

/**
 * The value of a call: its structured content if there is any, its text if that is the only block, or else all blocks.
 * Structured content that our server had to send in another form is returned as the tool returned it.
 */
export async function toValue(result: JsonObject): Promise<unknown> {
  if (result['isError'] === true) throw toToolError(result)
  const { structuredContent: value, _meta } = result
  const form = (_meta as JsonObject | undefined)?.[STRUCTURED]
  if (value !== undefined) return form === 'result' ? (value as JsonObject | null)?.['result'] : value
  const content = result['content'] as readonly { readonly type: string; readonly text?: unknown }[]
  const [only] = content
  if (content.length !== 1 || only?.type !== 'text' || typeof only.text !== 'string') return content
  return form === 'text' ? (await import('./json-text.ts')).readJson(only.text) : only.text
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
