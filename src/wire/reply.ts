import { idText, type ErrorObject, type RequestId } from '../protocol/jsonrpc.ts'
import type { Dialect } from '../protocol/switches.ts'

/** A text that is sent repeatedly, so that caching its bytes pays off. */
export class CachedText {
  readonly text: string
  #bytes: Uint8Array | undefined

  constructor(text: string) {
    this.text = text
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= new TextEncoder().encode(this.text))
  }
}

/** A reply around a cached text: transports that send bytes need not encode it again. */
export interface CachedReply {
  readonly before: string
  readonly kept: Pick<CachedText, 'text' | 'bytes'>
  readonly after: string
  /** The number of characters. */
  readonly length: number
}

export type Reply = string | CachedReply

/** A reply with an encoded result. */
export function encodeReply(id: RequestId, result: string | CachedText): Reply {
  const before = `{"jsonrpc":"2.0","id":${idText(id)},"result":`
  if (typeof result === 'string') return `${before}${result}}`
  return { before, kept: result, after: '}', length: before.length + result.text.length + 1 }
}

/** A complete reply as text. */
export function replyText(reply: Reply): string {
  return typeof reply === 'string' ? reply : `${reply.before}${reply.kept.text}${reply.after}`
}

/** The text of an error reply. If the id of the request could not be read, it has none, or null if the dialect requires it. */
export function encodeError(id: RequestId | undefined, error: ErrorObject, dialect?: Dialect): string {
  const unread = dialect?.nullIdErrors === true ? '"id":null,' : ''
  const about = id === undefined ? unread : `"id":${idText(id)},`
  return `{"jsonrpc":"2.0",${about}"error":${errorText(error)}}`
}

/** Omits data that cannot be serialised, because an error must always reach the waiting caller. */
function errorText(error: ErrorObject): string {
  try {
    return JSON.stringify(error)
  } catch {
    const { code, message } = error
    return JSON.stringify({ code, message })
  }
}
