import { Heap, type HeapEntry } from '../base/heap.ts'
import { hasFarFewer } from '../base/share.ts'
import type {
  EvictedSession,
  FieldChanges,
  NewSession,
  SessionRoom,
  SessionStore,
  StoredSession,
} from '../rpc/session-store.ts'
import { Chain, type Link } from './chain.ts'
import { removeEnded } from './ended.ts'
import { FieldNames } from './field-names.ts'
import type { Lifetime } from './lifetime.ts'

/** A session, and its places in the orders that the store keeps. */
class Kept {
  readonly id: string
  readonly owner: Owner
  readonly fields: Map<string, string>
  version = 1
  /** What the last changes concerned; most sessions have none. */
  names: FieldNames | undefined
  usedAt: number
  /** Its place among those of its owner, by use. */
  link!: Link<Kept>
  /** Its place among all, by the time of its end. */
  expiry!: HeapEntry<Kept>

  constructor({ id, fields }: NewSession, owner: Owner, now: number) {
    this.id = id
    this.owner = owner
    this.fields = new Map(fields)
    this.usedAt = now
  }

  isAs(expected: FieldChanges = new Map()): boolean {
    return [...expected].every(([name, text]) => (this.fields.get(name) ?? null) === text)
  }

  /** What is new for a node that knows a version. */
  since(known: number | undefined): StoredSession {
    const { version } = this
    if (version === known) return { version, fields: undefined }
    const names = known === undefined ? undefined : this.names?.ofLast(version - known)
    if (names === undefined) return { version, fields: new Map(this.fields) }
    const changes = new Map([...names].map((name) => [name, this.fields.get(name) ?? null]))
    return { version, fields: undefined, changes }
  }
}

class Owner {
  readonly name: string
  readonly sessions: Chain<Kept> = new Chain()
  /** Its place among all owners: those with the most sessions first. */
  rank!: HeapEntry<Owner>

  constructor(name: string) {
    this.name = name
  }
}

/** Keeps sessions in memory. Every method answers at once. */
export class MemorySessionStore implements SessionStore {
  readonly isInMemory = true
  readonly #lifetime: Lifetime
  readonly #sessions = new Map<string, Kept>()
  readonly #expiry = new Heap<Kept>()
  readonly #owners = new Map<string, Owner>()
  readonly #ranks = new Heap<Owner>()

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime
  }

  create(session: NewSession, room: SessionRoom): 'created' | 'full' | EvictedSession {
    const now = this.#begin()
    const same = this.#sessions.get(session.id)
    if (same !== undefined) this.#remove(same)
    if (this.#sessions.size < room.sessions) {
      this.#add(session, now)
      return 'created'
    }
    const oldest = this.#evictable(session.countedFor, now - room.freshMs)
    if (oldest === undefined) return 'full'
    this.#remove(oldest)
    this.#add(session, now)
    return { evicted: oldest.id }
  }

  use(
    id: string,
    known: number | undefined,
    idleMs: number,
    expected?: FieldChanges,
  ): StoredSession | undefined {
    const now = this.#begin()
    const kept = this.#sessions.get(id)
    if (kept === undefined || !kept.isAs(expected)) return undefined
    const { owner } = kept
    kept.usedAt = now
    owner.sessions.remove(kept.link)
    kept.link = owner.sessions.add(kept)
    this.#expiry.move(kept.expiry, now + idleMs)
    return kept.since(known)
  }

  change(id: string, fields: FieldChanges): number | undefined {
    this.#begin()
    const kept = this.#sessions.get(id)
    if (kept === undefined) return undefined
    for (const [name, text] of fields) {
      if (text === null) kept.fields.delete(name)
      else kept.fields.set(name, text)
    }
    kept.names ??= new FieldNames()
    kept.names.add([...fields.keys()])
    return ++kept.version
  }

  end(id: string): boolean {
    this.#begin()
    const kept = this.#sessions.get(id)
    if (kept !== undefined) this.#remove(kept)
    return kept !== undefined
  }

  count(): number {
    this.#begin()
    return this.#sessions.size
  }

  /** The time now, at which no expired session is left. */
  #begin(): number {
    this.#lifetime.check()
    return removeEnded(this.#expiry, (kept) => this.#remove(kept))
  }

  /** The session that makes room for one of `newcomer`. Those used after `freshAfter` are fresh. */
  #evictable(newcomer: string, freshAfter: number): Kept | undefined {
    const largest = this.#ranks.first?.item.sessions
    const oldest = largest?.after(undefined)?.item
    if (largest === undefined || oldest === undefined) return undefined
    const own = this.#owners.get(newcomer)?.sessions.size ?? 0
    return oldest.usedAt <= freshAfter || hasFarFewer(own, largest.size) ? oldest : undefined
  }

  #add(session: NewSession, now: number): void {
    const owner = this.#ownerOf(session.countedFor)
    const kept = new Kept(session, owner, now)
    kept.link = owner.sessions.add(kept)
    kept.expiry = this.#expiry.add(now + session.idleMs, kept)
    this.#ranks.move(owner.rank, -owner.sessions.size)
    this.#sessions.set(session.id, kept)
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name)
    if (known !== undefined) return known
    const owner = new Owner(name)
    owner.rank = this.#ranks.add(0, owner)
    this.#owners.set(name, owner)
    return owner
  }

  #remove(kept: Kept): void {
    const { id, owner, link, expiry } = kept
    this.#sessions.delete(id)
    this.#expiry.remove(expiry)
    owner.sessions.remove(link)
    this.#ranks.move(owner.rank, -owner.sessions.size)
    if (owner.sessions.size > 0) return
    this.#ranks.remove(owner.rank)
    this.#owners.delete(owner.name)
  }
}
