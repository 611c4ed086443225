import type { ErrorObject, JsonObject } from './jsonrpc.ts'
import type { RefusalName } from './refusals.ts'

/** The name of a message and what it says. */
export interface MethodParams {
  readonly method: string
  readonly params: JsonObject
}

/** A message as it came. */
export interface ReceivedMessage {
  readonly id?: unknown
  readonly method?: string
  readonly params?: JsonObject | null
}

/** An error on its way to the peer, as far as an adapter looks at it. */
export interface SentError {
  readonly kind: string
  readonly refusal: RefusalName | undefined
}

/** The error of ours, or the refusal, that a code on the wire stands for. */
export type CodeMeaning = (code: number) => { readonly kind?: string; readonly refusal?: RefusalName }

/** Reads the text of a message, or of a batch, within bounds. */
export type Reader = (text: string, bounds: object) => object

/**
 * What a profile does to messages: from the official form of a revision to its own when they leave, and back when they
 * come. Official dialects have none.
 */
export interface WireAdapter {
  /** Reads what comes, where that is not done as usual. */
  readonly read: Reader | undefined
  /** A message that came, in the official form. */
  decode<Message extends ReceivedMessage>(message: Message): Message
  /** A request that came. */
  decodeRequest(asked: MethodParams): MethodParams
  /** A notification that came. */
  decodeNotification(told: MethodParams): MethodParams
  /** A result that came, as the answer to a request of ours. */
  decodeResult(method: string, result: JsonObject): JsonObject
  /** What the numbers of errors that come mean, where they are not only official ones. */
  readonly meaning: CodeMeaning | undefined
  /** The params of a request that leaves. */
  encodeRequest(method: string, params: JsonObject): JsonObject
  encodeNotification(told: MethodParams): MethodParams
  encodeResult(method: string, result: JsonObject): JsonObject
  /** Whether a method may have a result that is not an object. */
  allowsNonObject(method: string): boolean
  /** The text of a result that is not an object; undefined where that is not allowed. */
  encodeNonObject(method: string, result: unknown): string | undefined
  encodeError(error: SentError, official: ErrorObject): ErrorObject
  /** The HTTP status of a reply that is an error; `status` is the official one. */
  statusOf(error: SentError, status: number): number
  /** A request was answered; what is told now follows the answer. */
  afterAnswer(method: string, tell: (told: MethodParams) => void): void
}
