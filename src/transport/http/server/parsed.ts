import { STRING_TOO_LONG, TOO_MANY_KEYS } from '../../../errors/limits.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import { mcpError } from '../../../errors/error.ts'
import { TOO_DEEP, TOO_MANY_VALUES } from '../../../errors/wire.ts'
import type { Bounds } from '../../../wire/bounds.ts'
import { readMessage } from '../../../wire/message.ts'

/** Reads a body that a framework parsed: a message, or a batch whose members are still to be read. */
export function readParsed(value: unknown, maxDepth: number): Message | readonly unknown[] {
  if (isDeeper(value, maxDepth)) throw mcpError(TOO_DEEP, { limit: maxDepth })
  return Array.isArray(value) ? value : readMessage(value)
}

/** The same, but rejects bodies with too many values or members, or too long a string. */
export function readParsedBounded(value: unknown, bounds: Bounds): Message | readonly unknown[] {
  const message = readParsed(value, bounds.depth)
  checkParsed(value, bounds)
  return message
}

/** Whether a value is nested more than `room` levels deep. */
export function isDeeper(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return room === 0 || Object.values(value).some((member) => isDeeper(member, room - 1))
}

/** Throws when a value has too many values or members inside, or too long a string. */
export function checkParsed(value: unknown, { values, keys, stringLength }: Bounds): void {
  let count = 0
  let members = 0
  const checkText = (text: string): void => {
    if (text.length > stringLength) throw mcpError(STRING_TOO_LONG, { limit: stringLength })
  }
  const check = (one: unknown): void => {
    if (++count > values) throw mcpError(TOO_MANY_VALUES, { limit: values })
    if (typeof one === 'string') checkText(one)
    if (typeof one !== 'object' || one === null) return
    if (!Array.isArray(one)) {
      const names = Object.keys(one)
      members += names.length
      if (members > keys) throw mcpError(TOO_MANY_KEYS, { limit: keys })
      names.forEach(checkText)
    }
    Object.values(one).forEach(check)
  }
  check(value)
}
