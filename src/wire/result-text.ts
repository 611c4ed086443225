import { storedIn, textWith } from '../base/stored-member.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/**
 * The text of a result, after members that are already text, each with its comma. Most results have a single text block,
 * which is written without JSON.stringify for the whole.
 */
export function resultText(result: JsonObject, front = ''): string {
  const text = onlyText(result)
  if (text === undefined) {
    const stored = storedIn(result)
    return withMembers(front, stored === undefined ? JSON.stringify(result) : textWith(result, stored))
  }
  const content = `{${front}"content":[{"type":"text","text":${JSON.stringify(text)}}]`
  const { isError } = result
  return isError === undefined ? `${content}}` : `${content},"isError":${isError === true}}`
}

/** The text of an object, with further members before its own. */
export function withMembers(front: string, object: string): string {
  if (front === '') return object
  return object === '{}' ? `{${front.slice(0, -1)}}` : `{${front}${object.slice(1)}`
}

/** The text of a result that has nothing but one text block and `isError`. */
function onlyText(result: JsonObject): string | undefined {
  for (const key in result) if (key !== 'content' && key !== 'isError') return undefined
  const { content, isError } = result
  if (!Array.isArray(content) || content.length !== 1) return undefined
  if (isError !== undefined && typeof isError !== 'boolean') return undefined
  const block = content[0] as JsonObject | null
  if (typeof block !== 'object' || block === null || 'toJSON' in block || 'toJSON' in result) return undefined
  for (const key in block) if (key !== 'type' && key !== 'text') return undefined
  const { type, text } = block
  return type === 'text' && typeof text === 'string' ? text : undefined
}
