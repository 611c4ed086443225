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

/** What the process that watches asks for: clients must hear of these lists. */
export interface ParentMessage {
  readonly kind: 'changed'
  readonly lists: readonly ItemList[]
}

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
