import { copyOf } from '../../../base/copy-of.ts'
import type { ContentLimits } from '../../../protocol/client-limits.ts'
import type { Message } from '../../../protocol/jsonrpc.ts'
import { McpError } from '../../../errors/error.ts'
import { checkBatchLength, readMessage, readScanned } from '../../../wire/message.ts'
import { scanFully } from '../../../wire/full-scan.ts'
import { checkValues } from '../../../wire/values.ts'

/** Reads the messages of a text from a server: one, or several in a batch. Throws when it is not a message. */
export function readReceived(text: string, limits: ContentLimits): readonly Message[] {
  const { depth, batch } = limits
  let read: unknown
  try {
    checkValues(text, limits)
    read = readScanned(text, depth, scanFully(text, depth))
  } catch (error) {
    if (!(error instanceof McpError) || error.kind !== 'bad_message') throw error
    return [readOne(JSON.parse(text))]
  }
  checkBatchLength(read, batch)
  return isBatch(read) ? read.map((member) => readOne(member)) : [read as Message]
}

/** Whether a message answers a request. An error without an id does, because no other request can be meant. */
export function answers(message: Message, id: number | undefined): boolean {
  if (message.method !== undefined) return false
  return message.id === id || (message.id === undefined && message.error !== undefined)
}

/** Many servers write `null` where an error has no id. */
function readOne(value: unknown): Message {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('error' in value) ||
    !('id' in value) ||
    value.id !== null
  )
    return readMessage(value)
  return readMessage(copyOf(value as Readonly<Record<string, unknown>>, 'id'))
}

function isBatch(read: unknown): read is readonly unknown[] {
  return Array.isArray(read)
}
