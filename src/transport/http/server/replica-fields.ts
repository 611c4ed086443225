import { URI } from '../../../rpc/session-fields.ts'
import type { FieldChanges, SessionFields, StoredSession } from '../../../rpc/session-store.ts'

/** News of a session: all of its fields, or those that have changed. */
export type FieldNews =
  | { readonly fields: SessionFields; readonly changes?: undefined }
  | { readonly changes: FieldChanges; readonly fields?: undefined }

/** What others made of a field of which a change of this node is on its way: the versions tell which came later. */
interface Contested {
  readonly version: number
  readonly value: string | null
}

/** A version that no stored session has. */
const UNKNOWN_VERSION = -1
const NO_CHANGES: FieldChanges = new Map()

/** What one node knows of the fields of a session that all nodes change: which version it has, and which changes the store does not have. */
export class ReplicaFields {
  #version: number | undefined
  /** Whether the state may differ from that of the version, because a message did not say when it was sent. */
  #isDoubtful = false
  /** Changes that the store does not have, and those that are on their way. Most sessions have none, and a node may know very many sessions. */
  #unsaved: Map<string, string | null> | undefined
  #leaving = NO_CHANGES
  #contested: Map<string, Contested> | undefined

  /** The version in the store that the node has; undefined before the session is there. */
  get version(): number | undefined {
    return this.#isDoubtful ? UNKNOWN_VERSION : this.#version
  }

  /** Changes that the store may not have, the oldest first. */
  get unsaved(): Iterable<readonly [string, string | null]> {
    return [...this.#leaving, ...(this.#unsaved ?? NO_CHANGES)]
  }

  get isUnsaved(): boolean {
    return this.#unsaved !== undefined
  }

  set(field: string, value: string | null): void {
    ;(this.#unsaved ??= new Map()).set(field, value)
  }

  /** The session is in the store. That begins to count with 1 or with another number; the next use tells. Answers the fields for it. */
  create(): SessionFields {
    const kept = [...(this.#unsaved ?? NO_CHANGES)].filter(
      (entry): entry is [string, string] => entry[1] !== null,
    )
    this.#unsaved = undefined
    return new Map(kept)
  }

  created(): void {
    this.#version = UNKNOWN_VERSION
  }

  /** What is new in an answer of the store, without what this node changes itself; undefined if nothing is. */
  newsIn({ version, fields, changes }: StoredSession): FieldNews | undefined {
    const known = this.#version
    if (known !== undefined && (version < known || (version === known && !this.#isDoubtful))) return undefined
    // Changes are no state by themselves.
    if (changes !== undefined && known !== undefined) return { changes: this.#others(version, changes) }
    if (fields === undefined) return undefined
    for (const name of this.#leaving.keys()) this.#contest(name, version, fields.get(name) ?? null)
    const current = new Map(fields)
    for (const [name, value] of this.unsaved)
      if (value === null) current.delete(name)
      else current.set(name, value)
    return { fields: current }
  }

  /** The node has the state of a version. Only all fields end a doubt. */
  reached(version: number, { fields }: FieldNews): void {
    this.#version = version
    if (fields !== undefined) this.#isDoubtful = false
  }

  /** What is new in a message of another node about resources; undefined if nothing is. */
  newsOf(
    added: readonly string[],
    removed: readonly string[],
    version: number | undefined,
  ): FieldChanges | undefined {
    const changes = new Map<string, string | null>()
    for (const uri of removed) changes.set(URI + uri, null)
    for (const uri of added) changes.set(URI + uri, '')
    if (version === undefined) {
      this.#isDoubtful = this.#version !== undefined
      return changes
    }
    if (this.#version !== undefined && version <= this.#version) return undefined
    return this.#others(version, changes)
  }

  /** The changes to send next. */
  leave(): FieldChanges {
    this.#leaving = this.#unsaved ?? NO_CHANGES
    this.#unsaved = undefined
    return this.#leaving
  }

  /** The store has what left, with this version. Answers what others have changed since then. */
  arrived(version: number): FieldChanges {
    // Otherwise another node has changed something too, which the next use tells.
    if (version === (this.#version as number) + 1) this.#version = version
    const later = [...(this.#contested ?? [])].filter(([, one]) => one.version > version)
    this.#clear()
    const changes = later.filter(([name]) => !this.#isSet(name))
    return new Map(changes.map(([name, { value }]) => [name, value]))
  }

  /** What left has to be sent again, unless it has changed since. */
  failed(left: FieldChanges): void {
    if (left.size > 0) this.#unsaved = new Map([...left, ...(this.#unsaved ?? NO_CHANGES)])
    this.#clear()
  }

  #clear(): void {
    this.#leaving = NO_CHANGES
    this.#contested = undefined
  }

  #isSet(name: string): boolean {
    return this.#unsaved?.has(name) === true
  }

  /** Changes of others that this node does not replace. */
  #others(version: number, changes: FieldChanges): FieldChanges {
    const others = new Map<string, string | null>()
    for (const [name, value] of changes)
      if (this.#leaving.has(name)) this.#contest(name, version, value)
      else if (!this.#isSet(name)) others.set(name, value)
    return others
  }

  #contest(name: string, version: number, value: string | null): void {
    this.#contested ??= new Map()
    if (version >= (this.#contested.get(name)?.version ?? 0)) this.#contested.set(name, { version, value })
  }
}
