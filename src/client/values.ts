import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { TextLimits } from './rare-values.ts'
import { STRUCTURED } from '../protocol/meta.ts'

/**
 * The value of a call: its structured content if there is any, its text if that is the only block, or else all blocks.
 * Structured content that our server had to send in another form is returned as the tool returned it, unless the output
 * schema of the tool, if it is known, describes something else.
 */
export async function toValue(
  result: JsonObject,
  outputSchema: unknown,
  limits: TextLimits,
): Promise<unknown> {
  const { structuredContent, isError, _meta } = result
  if (isError === true || (_meta as JsonObject | undefined)?.[STRUCTURED] !== undefined)
    return (await import('./rare-values.ts')).toRareValue(result, outputSchema, limits)
  return structuredContent === undefined ? toText(result) : structuredContent
}

/** The text if that is the only block, or else all blocks. */
export function toText(result: JsonObject): unknown {
  const content = result['content'] as readonly { readonly type: string; readonly text?: unknown }[]
  const [only] = content
  return content.length === 1 && only?.type === 'text' && typeof only.text === 'string' ? only.text : content
}
