import type { ContentLimits, ReadLimits } from '../../protocol/client-limits.ts'
import type { Message } from '../../protocol/jsonrpc.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { BAD_ANSWER } from '../../errors/client.ts'
import { withoutStacks } from '../../errors/stacks.ts'
import type { MessageStream } from '../../rpc/message-stream.ts'
import { checkBatchLength, readMessage } from '../../wire/message.ts'
import { readText } from '../../wire/read-text.ts'

/**
 * Passes the text of a message or batch from a server to the messages. Text that is not a valid message fails the request
 * that it seems to answer; returns false when there is none.
 */
export function receiveText(messages: MessageStream, text: string, limits: ContentLimits): boolean {
  let message: ReturnType<typeof readText>
  try {
    // After an invalid message, which is perhaps one of many, the stack of the error is saved: it is most of what one costs.
    message = messages.invalid === 0 ? readText(text, limits) : withoutStacks(() => readText(text, limits))
    checkBatchLength(message, limits.batch)
  } catch (thrown) {
    return rejectAnswer(messages, text, (thrown as Error).message)
  }
  if (!Array.isArray(message)) {
    messages.take(message as Message)
    return true
  }
  let whole = true
  for (const member of message as readonly unknown[]) whole = receiveMember(messages, member) && whole
  return whole
}

/** The reason to give up on a server that sends nothing but invalid messages, once it has sent too many. */
export function tooManyInvalid(
  { invalid }: MessageStream,
  { clientInvalid }: Pick<ReadLimits, 'clientInvalid'>,
): McpError | undefined {
  if (invalid < clientInvalid) return undefined
  const text = `the server sent ${clientInvalid} invalid messages in a row (limits.clientInvalid)`
  return new McpError('bad_answer', text)
}

/** Fails the request that a malformed response belongs to; false when that is unknown. */
export function rejectAnswer(messages: MessageStream, text: string, issue: string): boolean {
  return messages.reject(answeredId(text), (method) => mcpError(BAD_ANSWER, { method, issue }))
}

/** The id that a text seems to respond to, read from either end of it: the text may be truncated or invalid. */
export function answeredId(text: string): number | undefined {
  const head = text.slice(0, EDGE)
  if (CALL.test(head)) return undefined
  const found = HEAD.exec(head) ?? TAIL.exec(text.slice(-EDGE))
  return found === null ? undefined : Number(found[1])
}

const EDGE = 256
const CALL = /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*"method"/
const HEAD = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"\\]*"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*[,}]/
const TAIL = /"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"[^"\\]*"\s*)?\}\s*$/

function receiveMember(messages: MessageStream, member: unknown): boolean {
  let message: Message
  try {
    message = messages.invalid === 0 ? readMessage(member) : withoutStacks(() => readMessage(member))
  } catch (thrown) {
    const { id, method } = (member ?? {}) as { id?: unknown; method?: unknown }
    const issue = (thrown as McpError).message
    const asks = method !== undefined || typeof id !== 'number'
    return messages.reject(asks ? undefined : id, (of) => mcpError(BAD_ANSWER, { method: of, issue }))
  }
  messages.take(message)
  return true
}
