import { isObject, type JsonObject, type Message } from '../protocol/jsonrpc.ts'
import type { SentChange } from '../rpc/changes.ts'

/** A message from one node to all. */
export type NodeMessage =
  /** A list or a resource has changed, or an extension has news. */
  | { readonly kind: 'changed'; readonly change: SentChange }
  /** Too many changes to list: of resources and extensions, or also of lists if `lost` does not say so. */
  | { readonly kind: 'all_changed'; readonly lost?: 'updates' }
  /** The client of a session has answered a question of another node. A long answer is in the cache, under `key`, and `id` says whose it is. */
  | {
      readonly kind: 'answered'
      readonly session: string
      readonly answer?: Message
      readonly key?: string
      readonly id?: Message['id']
    }
  /** The client of a session has answered a question of another node at length. The node that asked says whether it waits for that. */
  | { readonly kind: 'offered'; readonly session: string; readonly id: number }
  | { readonly kind: 'wanted'; readonly session: string; readonly id: number; readonly isOpen: boolean }
  /** A long answer is not in the cache any more. */
  | { readonly kind: 'taken'; readonly key: string }
  /** The client of a session has cancelled a request that another node runs. */
  | { readonly kind: 'cancelled'; readonly session: string; readonly params: JsonObject }
  /** The client of a session has subscribed to resources, or has ended that. `version` is that of the session then; older programs send none. */
  | {
      readonly kind: 'subscribed'
      readonly session: string
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly version?: number
    }
  /** A session has ended. */
  | { readonly kind: 'ended'; readonly session: string }
  /** The client of a session has opened its stream. */
  | { readonly kind: 'attached'; readonly session: string }
  /** A node is dead, although its lease may not be over. */
  | { readonly kind: 'died'; readonly node: number }
  | Revocation

/** A caller is revoked since a time, in milliseconds since 1970. */
export interface Revocation {
  readonly kind: 'revoked'
  readonly sub: string
  readonly issuer?: string | undefined
  readonly at: number
}

/** A message, and its sender. */
export interface SentMessage {
  /** The name of the server. */
  readonly server: string
  /** Identifies the process that sent it. */
  readonly sender: string
  readonly message: NodeMessage
  /** Tells the messages of a node apart that it publishes again until it knows that they are on the bus. */
  readonly mark?: number | undefined
}

/** The text of a message; throws if it cannot be written as JSON. */
export function writeMessage(sent: SentMessage): string {
  return JSON.stringify(sent)
}

/** Reads a message; undefined if it is not one, for example because a later version of the package sent it. */
export function readMessage(text: string): SentMessage | undefined {
  try {
    const sent: unknown = JSON.parse(text)
    return isObject(sent) && isObject(sent['message']) ? (sent as unknown as SentMessage) : undefined
  } catch {
    return undefined
  }
}
