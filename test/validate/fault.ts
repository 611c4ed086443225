import type { Message } from '../../src/validate/message.ts'
import type { Transport } from '../../src/validate/rule.ts'
import type { Revision } from '../../src/protocol/revisions.ts'

/** A request over HTTP as a fault sees it. */
export interface FaultRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The message in the body, if there is one. */
  readonly message: Message | undefined
}

/** A reply over HTTP. The body of a stream of events is changed message by message, not here. */
export interface FaultReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ReadableStream<Uint8Array> | null
}

/** What a fault puts in the place of a message: messages, texts as they are, or nothing. */
export type Instead = Message | string | undefined | readonly (Message | string)[]

/** One thing that a server does wrong. Everything else is as the correct server does it. */
export interface Fault {
  /** The rule that it breaks. */
  readonly rule: string
  /** What it does, after "a server that". */
  readonly does: string
  /** Where it applies. Default: everywhere the rule does. */
  readonly revisions?: readonly Revision[] | undefined
  readonly transports?: readonly Transport[] | undefined
  /** Changes a message of the server. `request` is the request that it answers. */
  message?(message: Message, request: Message | undefined): Instead
  /** Answers a message of the client in the place of the server; undefined leaves it to the server, '' answers nothing. */
  answer?(message: Message, headers: Readonly<Record<string, string>>): Instead
  /** The same for a text that is not a message, such as broken JSON or a batch. */
  answerText?(text: string): Instead
  /** Goes on after its input has ended, over stdio. */
  readonly stays?: boolean | undefined
  /** Whether it accepts a handshake of a stranger, over WebSocket. */
  welcomes?(origin: string | undefined, host: string): boolean
  /** Changes the request on its way to the server, over HTTP. */
  request?(request: FaultRequest): FaultRequest
  /** Replaces or changes a reply over HTTP. `next` asks the correct server. */
  http?(request: FaultRequest, next: () => Promise<FaultReply>): Promise<FaultReply> | FaultReply
}

/** The same fault in the result of one method. */
export function inResult(
  method: string,
  change: (result: Message) => Message,
): (message: Message, request: Message | undefined) => Instead {
  return (message, request) =>
    request?.['method'] === method && message['result'] !== undefined
      ? { ...message, result: change(message['result'] as Message) }
      : message
}

/** Changes the error with a code. */
export function inError(code: number, change: (error: Message) => Message): (message: Message) => Instead {
  return (message) => {
    const error = message['error'] as Message | undefined
    return error?.['code'] === code ? { ...message, error: change(error) } : message
  }
}

export function without(object: Message, ...keys: readonly string[]): Message {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}
