import { mcpError } from '../../protocol/errors.ts'
import { readMessage, type Incoming } from '../../wire/message.ts'

/** Takes a body that a framework parsed as a message, or as a batch still to be read one by one. */
export function readParsed(value: unknown, maxDepth: number): Incoming | readonly unknown[] {
  if (isDeeper(value, maxDepth)) throw mcpError('too_deep', { limit: maxDepth })
  return Array.isArray(value) ? value : readMessage(value)
}

/** Whether a value is nested deeper than so many levels. */
export function isDeeper(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return room === 0 || Object.values(value).some((member) => isDeeper(member, room - 1))
}
