import type { ItemList } from 'pierhead'
import type { CallEvent } from './events.ts'
import type { ShownError } from './shown-error.ts'

/** A digest of each list of a server. */
export type Digests = Readonly<Record<ItemList, string>>

/** What the process with the program tells the one that watches. */
export type WorkerMessage =
  | { readonly kind: 'call'; readonly call: CallEvent }
  /** It takes requests; its lists are being read. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'ready'; readonly digests: Digests }
  | { readonly kind: 'failed'; readonly error: ShownError }
  /** A stream that its client keeps open; the connection comes with the message. */
  | { readonly kind: 'stream'; readonly request: StreamRequest }
  /** All its streams are on their way, and it takes no new requests. */
  | { readonly kind: 'streams' }

/** The requests of the process that watches. */
export type ParentMessage =
  /** Clients must hear of these lists. */
  | { readonly kind: 'changed'; readonly lists: readonly ItemList[] }
  /** Another process serves now, and must get the streams that clients keep open. */
  | { readonly kind: 'replaced' }

/** The request that opened a stream. */
export interface StreamRequest {
  readonly path: string
  /** Names and values, as the client sent them. */
  readonly headers: readonly string[]
  readonly body: string
}

/** Marks a request that opens a stream of a client again. */
export const REOPENS_HEADER = 'pierhead-dev-reopens'

/** Says to a process that it runs the program for a relay. */
export const RELAYED_VARIABLE = 'PIERHEAD_RELAYED'

/** The member that marks these messages among those of the program. */
const MARK = 'pierheadDev'

export function toMessage(message: WorkerMessage | ParentMessage): object {
  return { [MARK]: message }
}

/** Reads a message; undefined if it is another one. */
export function fromMessage<Message extends WorkerMessage | ParentMessage>(
  message: unknown,
): Message | undefined {
  return (message as { readonly [MARK]?: Message } | null | undefined)?.[MARK]
}

export const LISTS: readonly ItemList[] = ['tools', 'resources', 'prompts']

/** The lists that differ. */
export function changedLists(before: Digests | undefined, after: Digests): readonly ItemList[] {
  return before === undefined ? [] : LISTS.filter((list) => before[list] !== after[list])
}
