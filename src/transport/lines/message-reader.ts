import type { Readable } from 'node:stream'
import type { ReadLimits } from '../../protocol/client-limits.ts'
import { type McpError, mcpError } from '../../errors/error.ts'
import { ANSWER_TOO_LARGE } from '../../errors/client.ts'
import type { TransportEvents } from '../../rpc/client-transport.ts'
import type { MessageStream } from '../../rpc/message-stream.ts'
import { hasTooMany, type PartLimits } from '../../wire/values.ts'
import { answeredId, receiveText, rejectAnswer, tooManyInvalid } from '../io/receive.ts'
import { Inbox } from '../io/inbox.ts'
import { LINES, type Framing } from './framing.ts'
import { plainText } from './plain.ts'
import { decodeLine, toText } from './text.ts'

export interface MessageReader {
  /** Whether a message has ever arrived. */
  anything(): boolean
  /** The first line that was not a message. */
  junk(): string
  /** The input has ended; the last line does not need a line break. */
  end(): void
  /** Discards all further input. It is still read so that the server does not block. */
  stop(): void
}

export interface MessageReaderOptions {
  readonly events: TransportEvents
  readonly limits: ReadLimits
  /** Where the server writes, for use in messages. */
  readonly where: string
  readonly framing?: Framing
  /** Called when no pending request can be answered any more. */
  onBroken(reason: McpError): void
}

/** Reads messages from a server. Reading pauses while messages wait for their turn. */
export function createMessageReader(
  input: Readable,
  messages: MessageStream,
  options: MessageReaderOptions,
): MessageReader {
  const { events, limits, where, onBroken, framing = LINES } = options
  const tooLarge = (): McpError =>
    mcpError(ANSWER_TOO_LARGE, { limit: limits.clientBytes, unit: 'bytes in one line' })
  let heard = false
  let isStopped = false
  let isOver = false
  let junk = ''
  const lines = framing.createReader({
    maxBytes: limits.clientBytes,
    decode: decodeLine,
    onLine: (text) => inbox.push(text),
    onOversize(head) {
      const text = toText(head.subarray(0, 256))
      inbox.push(() => onOversize(text))
    },
    onBadEncoding(bytes) {
      const text = toText(bytes)
      inbox.push(() => onBadEncoding(text))
    },
  })
  /** Lines, and what to do about those that could not be read. */
  const inbox = new Inbox<string | (() => void)>({
    take: (item) => (typeof item === 'string' ? onLine(item) : item()),
    asked: () => messages.asked,
    pause: () => input.pause(),
    resume: () => input.resume(),
  })
  input.on('data', onData)
  return {
    anything: () => heard,
    junk: () => junk,
    end() {
      inbox.flush()
      isOver = true
      if (!isStopped) lines.end()
      inbox.flush()
    },
    stop() {
      isStopped = true
      inbox.clear()
      input.off('data', onData)
      input.resume()
    },
  }

  function onData(chunk: Buffer): void {
    lines.push(chunk)
  }

  function onLine(text: string): void {
    // A server that dies while writing has not answered.
    if (isStopped || (isOver && !isWhole(text, limits))) return
    if (mayBeMessage(text)) return check(receiveText(messages, text, limits), text)
    messages.invalid++
    check(false, text)
  }

  function onBadEncoding(text: string): void {
    if (!isStopped && !isOver) check(rejectAnswer(messages, text, 'it is not valid UTF-8'), text)
  }

  /** Reports, once, that the server writes something other than messages. Gives up on one that writes nothing else. */
  function check(known: boolean, text: string): void {
    heard ||= known
    if (known) return
    const reason = tooManyInvalid(messages, limits)
    if (reason !== undefined) onBroken(reason)
    if (junk !== '') return
    junk = plainText(text.slice(0, 200))
    events.onNote?.('stream', `the server writes text ${where} that is not a message, such as: ${junk}`)
  }

  /** Fails the request whose response is too large, or all of them when it is unknown which one that is. */
  function onOversize(head: string): void {
    const answered = answeredId(head)
    if (answered === undefined && !heard) junk ||= plainText(head.slice(0, 200))
    const id = answered ?? messages.only
    if (!messages.reject(id, tooLarge) && messages.size > 0) onBroken(tooLarge())
  }
}

/** Whether a text is complete; one with too many parts counts as such and is not parsed. */
function isWhole(text: string, limits: PartLimits): boolean {
  try {
    return hasTooMany(text, limits) || JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

function mayBeMessage(text: string): boolean {
  const first = text.trimStart().charCodeAt(0)
  return first === 0x7b || first === 0x5b
}
