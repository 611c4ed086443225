import { clip } from '../base/clip.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

const MAX_MESSAGE = 16_384

/**
 * The progress of a task as it is kept for readers: with the beginning of its message, and nothing else that the server sent. It is a
 * copy, because a part of a text keeps the whole text in memory.
 */
export function toKept({ progress, total, message }: JsonObject): JsonObject {
  const text = typeof message === 'string' ? clip(message, MAX_MESSAGE) : undefined
  return JSON.parse(JSON.stringify({ progress, total, message: text })) as JsonObject
}
