import { Deferred } from '../base/deferred.ts'
import type { NodeMessage } from './messages.ts'
import type { Node } from './node.ts'
import type { NodeListener } from './node-options.ts'
import { askerOf } from './question-ids.ts'

/** How long to wait until a node says whether it waits for an answer. */
const REPLY_MS = 5000

type OfferNode = Pick<Node, 'mayHaveAsked' | 'publish' | 'stores'>

/** The state of a node: it is alive and replies to offers, it is alive but silent, as older programs and nodes of other servers are, or it is dead. */
export type Standing = 'replies' | 'silent' | 'dead'

/** Asks the node that may have asked a question whether it waits for the answer, before anything stores a long one: clients can make up any number of them. */
export class Offers implements NodeListener {
  readonly #node: OfferNode
  readonly #listeners: Iterable<NodeListener>
  /** Offers that wait for a reply, by session and question. */
  readonly #open = new Map<string, Promise<boolean | undefined>>()
  readonly #replies = new Map<string, Deferred<boolean | undefined>>()
  /** Living nodes that did not reply. */
  readonly #silent = new Set<number>()

  constructor(node: OfferNode, listeners: Iterable<NodeListener>) {
    this.#node = node
    this.#listeners = listeners
  }

  /** The state of the node that asked a question. */
  async standing(id: number): Promise<Standing> {
    const asker = askerOf(id)
    if (!(await this.#node.stores.nodes.isAlive(asker))) return 'dead'
    return this.#silent.has(asker) ? 'silent' : 'replies'
  }

  /** Whether a node waits for the answer to a question; undefined if none says so in time. */
  offer(session: string, id: number): Promise<boolean | undefined> {
    const name = nameOf(session, id)
    let open = this.#open.get(name)
    if (open === undefined) {
      open = this.#ask(name, session, id).finally(() => this.#open.delete(name))
      this.#open.set(name, open)
    }
    return open
  }

  /** The node that asked did not reply. */
  noteSilent(id: number): void {
    this.#silent.add(askerOf(id))
  }

  onMessage(message: NodeMessage): void {
    if (message.kind === 'offered') this.#reply(message.session, message.id)
    else if (message.kind === 'wanted') {
      this.#silent.delete(askerOf(message.id))
      this.#replies.get(nameOf(message.session, message.id))?.resolve(message.isOpen)
    } else if (message.kind === 'answered') {
      const { session, key, id } = message
      if (key === undefined || typeof id !== 'number' || !this.#node.mayHaveAsked(id)) return
      // The question has ended meanwhile.
      if (!this.#isOpen(session, id)) void dropAnswer(this.#node, key)
    }
  }

  onAllChanged(): void {
    // Offers are no changes.
  }

  /** Waits for no more replies. */
  stop(): void {
    for (const reply of this.#replies.values()) reply.resolve(undefined)
  }

  async #ask(name: string, session: string, id: number): Promise<boolean | undefined> {
    const reply = new Deferred<boolean | undefined>()
    const timer = setTimeout(() => reply.resolve(undefined), REPLY_MS)
    this.#replies.set(name, reply)
    try {
      await this.#node.publish({ kind: 'offered', session, id })
      return await reply.promise
    } finally {
      clearTimeout(timer)
      this.#replies.delete(name)
    }
  }

  /** Only the node that may have asked the question replies. */
  #reply(session: string, id: number): void {
    if (!this.#node.mayHaveAsked(id)) return
    const isOpen = this.#isOpen(session, id)
    // The other node goes on without a reply.
    this.#node.publish({ kind: 'wanted', session, id, isOpen }).catch(() => undefined)
  }

  #isOpen(session: string, id: number): boolean {
    for (const listener of this.#listeners) if (listener.waitsFor?.(session, id) === true) return true
    return false
  }
}

/** Removes a long answer from the cache, and tells the node that counts it. Without that, both forget it by themselves. */
export async function dropAnswer(node: Pick<Node, 'publish' | 'stores'>, key: string): Promise<void> {
  try {
    await node.stores.cache.delete(key)
    await node.publish({ kind: 'taken', key })
  } catch {
    // The store is away.
  }
}

function nameOf(session: string, id: number): string {
  return `${session} ${id}`
}
