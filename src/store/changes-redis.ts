import { pause } from '../base/backoff.ts'
import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import { BusReader, messagesAfter, type BusPage } from './bus-reader.ts'
import { BUS_PAGE } from './changes-memory.ts'
import { BLOCK_MS, type Client } from './redis-client.ts'
import type { RedisConnection } from './redis-connection.ts'
import type { RedisLink } from './redis-link.ts'
import { RedisLog, type LogKeys } from './redis-log.ts'
import { originalText } from './stored-text.ts'
import type { LogRoom } from './text-log.ts'

/** The pause before another attempt, if Redis answers with errors. */
const RETRY_MS = 500

/** Carries messages between nodes in a stream of Redis. One connection waits for new ones, for all subscribers of this driver. */
export class RedisChangeBus implements ChangeBus {
  readonly nodes: NodeStore
  readonly #link: RedisLink
  readonly #log: RedisLog
  readonly #room: LogRoom
  readonly #keys: LogKeys
  /** The subscribers that have read everything up to here. */
  readonly #readers = new Set<BusReader>()
  /** The last message that was read for all of them. The mark tells it from another one at the same position. */
  #seen: { readonly position: number; readonly mark: string | undefined } = { position: 0, mark: undefined }
  #following: RedisConnection | undefined
  #isFollowing = false

  constructor(link: RedisLink, room: LogRoom, nodes: NodeStore) {
    this.nodes = nodes
    this.#link = link
    this.#log = new RedisLog(link)
    this.#room = room
    this.#keys = {
      texts: link.key('bus', ':e'),
      head: link.key('bus', ':h'),
      names: link.key('bus', ':streams'),
    }
  }

  async publish(text: string): Promise<number> {
    const seq = await this.#log.add(this.#keys, { text }, this.#room)
    return (seq ?? 0) + 1
  }

  async position(): Promise<number> {
    return Number((await this.#link.call(['HGET', this.#keys.head, 'next'])) ?? 0)
  }

  async read(after: number, limit: number): Promise<readonly BusMessage[] | undefined> {
    return messagesAfter(after, await this.#page(after, limit))
  }

  subscribe(
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (position: number) => void,
  ): () => void {
    this.#link.lifetime.check()
    const reader = new BusReader(after, onMessage, onGap)
    void this.#join(reader)
    return () => {
      reader.stop()
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#stop()
    }
  }

  /** Reads what is old, and then follows what is new, together with the others. */
  async #join(reader: BusReader): Promise<void> {
    while (!reader.isStopped && !this.#link.lifetime.isOver) {
      try {
        const isBehind = reader.takePage(await this.#page(reader.after, BUS_PAGE))
        if (isBehind || (this.#isFollowing && reader.after < this.#seen.position)) continue
        if (reader.isStopped) return
        this.#readers.add(reader)
        if (this.#isFollowing) return
        this.#seen = { position: reader.after, mark: undefined }
        return await this.#follow()
      } catch {
        await pause(RETRY_MS)
      }
    }
  }

  async #page(after: number, limit: number): Promise<BusPage> {
    const page = await this.#log.read(this.#keys, after - 1, limit)
    if (page === undefined) return { before: 0, newest: 0, messages: [] }
    const messages = page.events.map(({ seq, text }) => ({ position: seq + 1, text }))
    return { before: page.first, newest: page.next, messages }
  }

  /** Waits for messages as long as anybody reads them. */
  async #follow(): Promise<void> {
    this.#isFollowing = true
    try {
      while (this.#readers.size > 0 && !this.#link.lifetime.isOver) {
        const connection = await this.#link.connection()
        // All of them may have left meanwhile.
        if (this.#readers.size === 0) return this.#link.release(connection)
        this.#following = connection
        await this.#followOn(connection)
      }
    } finally {
      this.#isFollowing = false
    }
  }

  /** The same over one connection, until that is released. */
  async #followOn(connection: RedisConnection): Promise<void> {
    let isChecked = false
    while (this.#following === connection && !this.#link.lifetime.isOver) {
      try {
        const client = await connection.ready()
        if (!isChecked) await this.#check(client)
        // A server that is silent may have lost its data without losing the connection.
        isChecked = await this.#wait(client)
      } catch (error) {
        this.#link.warnOf(error)
        isChecked = false
        if (connection.current !== undefined) await pause(RETRY_MS)
      }
    }
  }

  #stop(): void {
    if (this.#following !== undefined) this.#link.release(this.#following)
    this.#following = undefined
  }

  /** Waits for messages after those that were seen, and passes them on. False if there are no new ones for a while. */
  async #wait(client: Client): Promise<boolean> {
    const from = ['STREAMS', this.#keys.texts, `${this.#seen.position}-0`]
    const reply = await client.xread('COUNT', BUS_PAGE, 'BLOCK', BLOCK_MS, ...from)
    const [stream] = (reply ?? []) as readonly (readonly [key: string, entries: readonly Entry[]])[]
    const entries = stream?.[1] ?? []
    const messages = entries.map(([id, [, text = '']]) => ({
      position: positionIn(id),
      text: originalText(text),
    }))
    const last = entries.at(-1)
    if (last === undefined) return false
    this.#seen = { position: positionIn(last[0]), mark: last[1][3] }
    for (const reader of this.#readers) reader.take(messages)
    return true
  }

  /** Reports a gap if the server lost messages that were seen, because their positions are used again. */
  async #check(client: Client): Promise<void> {
    const { position, mark } = this.#seen
    const head = Number((await client.call('HGET', this.#keys.head, 'next')) ?? 0)
    const entries = await client.call('XRANGE', this.#keys.texts, `${position}-0`, `${position}-0`)
    const [entry] = entries as readonly Entry[]
    const isSame = mark === undefined || entry === undefined || entry[1][3] === mark
    if (position <= head && isSame) return
    this.#seen = { position: head, mark: undefined }
    for (const reader of this.#readers) reader.skip(head)
  }
}

/** An entry of a stream: its id, and names and values in turn. */
type Entry = readonly [id: string, values: readonly string[]]

function positionIn(id: string): number {
  return Number.parseInt(id, 10)
}
