import { idText, type ErrorObject, type RequestId } from '../protocol/jsonrpc.ts'
import type { Dialect } from '../protocol/switches.ts'

/** A text that is given again and again, so that its bytes are worth keeping. */
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

/** A reply around a kept text: transports that send bytes need not encode it anew. */
export interface CachedReply {
  readonly before: string
  readonly kept: Pick<CachedText, 'text' | 'bytes'>
  readonly after: string
}

export type Reply = string | CachedReply

/** A reply that carries a sealed result. */
export function encodeReply(id: RequestId, result: string | CachedText): Reply {
  const before = `{"jsonrpc":"2.0","id":${idText(id)},"result":`
  return typeof result === 'string' ? `${before}${result}}` : { before, kept: result, after: '}' }
}

/** A whole reply as text. */
export function replyText(reply: Reply): string {
  return typeof reply === 'string' ? reply : `${reply.before}${reply.kept.text}${reply.after}`
}

/** The text of an error reply. When the id of the request could not be read it has none, or null where the dialect wants that. */
export function encodeError(id: RequestId | undefined, error: ErrorObject, dialect?: Dialect): string {
  const unread = dialect?.nullIdErrors === true ? '"id":null,' : ''
  const about = id === undefined ? unread : `"id":${idText(id)},`
  return `{"jsonrpc":"2.0",${about}"error":${errorText(error)}}`
}

/** Data that cannot be written is left out: an error must always reach whoever waits for it. */
function errorText(error: ErrorObject): string {
  try {
    return JSON.stringify(error)
  } catch {
    const { code, message } = error
    return JSON.stringify({ code, message })
  }
}
