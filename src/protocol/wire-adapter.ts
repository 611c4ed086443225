import type { ErrorObject, JsonObject, Message } from './jsonrpc.ts'
import type { RefusalName } from './refusals.ts'

/** The method and the params of a message. */
export interface MethodParams {
  readonly method: string
  readonly params: JsonObject
}

/** The part of an outgoing error that an adapter reads. */
export interface SentError {
  readonly kind: string
  readonly refusal: RefusalName | undefined
}

/** Maps a code on the wire to one of our error kinds or to a refusal. */
export type CodeMeaning = (code: number) => { readonly kind?: string; readonly refusal?: RefusalName }

/** Reads the text of a message, or of a batch, within bounds. */
export type Reader = (text: string, bounds: object) => object

/**
 * Converts messages between the official form of a revision and the form of a profile: outgoing messages to the
 * profile's, incoming ones to the official. Official dialects have none.
 */
export interface WireAdapter {
  /** Replaces the usual reader of incoming text. */
  readonly read: Reader | undefined
  /** Converts an incoming message to the official form. */
  decode(message: Message): Message
  /** Converts an incoming request. */
  decodeRequest(request: MethodParams): MethodParams
  /** Converts an incoming notification. */
  decodeNotification(notification: MethodParams): MethodParams
  /** Converts an incoming result of one of our requests. */
  decodeResult(method: string, result: JsonObject): JsonObject
  /** Interprets the codes of incoming errors, if there are more than the official ones. */
  readonly meaning: CodeMeaning | undefined
  /** Converts the params of an outgoing request. */
  encodeRequest(method: string, params: JsonObject): JsonObject
  encodeNotification(notification: MethodParams): MethodParams
  encodeResult(method: string, result: JsonObject): JsonObject
  /** Whether a method may have a result that is not an object. */
  allowsNonObject(method: string): boolean
  /** Encodes a result that is not an object; undefined if the method may not have one. */
  encodeNonObject(method: string, result: unknown): string | undefined
  encodeError(error: SentError, official: ErrorObject): ErrorObject
  /** The HTTP status of a reply that is an error; `status` is the official one. */
  statusOf(error: SentError, status: number): number
  /** Called after a request was answered; notifications sent here follow the answer. */
  afterAnswer(method: string, notify: (notification: MethodParams) => void): void
}
