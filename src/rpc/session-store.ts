import type { NodeStore } from './node-store.ts'
import type { Soon } from './soon.ts'

/**
 * The state of a session as all nodes share it: texts by name. Each change replaces or removes some of them, so two nodes that change
 * different ones do not disturb each other.
 */
export type SessionFields = ReadonlyMap<string, string>

/** Changes of a session: texts by name, and null for fields that are removed. */
export type FieldChanges = ReadonlyMap<string, string | null>

/** Of how many changes of a session a store remembers the names of fields, and how many bytes these may have together. */
export const MOST_CHANGES = 32
export const MOST_NAME_BYTES = 131_072

/** A session that a node is about to use. */
export interface StoredSession {
  /** Grows with each change. */
  readonly version: number
  /** All fields; undefined if the version is the one that the node knows, or if there are `changes`. */
  readonly fields: SessionFields | undefined
  /**
   * The fields that have changed since the version that the node knows, as they are now. A store remembers the names of the last changes for
   * this, so that a small change of a large session does not make other nodes read all of it; it answers all fields if it does not know.
   */
  readonly changes?: FieldChanges | undefined
}

/** How many sessions a store may keep. */
export interface SessionRoom {
  /** Sessions of all owners. */
  readonly sessions: number
  /**
   * Sessions used less than this long ago are fresh: they are evicted only for an owner with far fewer. Stores may note uses up to a second
   * late, and then sessions stay fresh for that much longer.
   */
  readonly freshMs: number
}

/** A new session. */
export interface NewSession {
  /** Its id, which nobody can guess. */
  readonly id: string
  /** The caller or the network whose sessions it is counted with. */
  readonly countedFor: string
  /** Its first fields. */
  readonly fields: SessionFields
  /** It ends after this time without use. */
  readonly idleMs: number
}

/** A session that made room for a new one. */
export interface EvictedSession {
  /** Its id. */
  readonly evicted: string
}

/**
 * Keeps the sessions of clients, so that every node can serve every session. Each method is one atomic step, and one exchange with the
 * server behind the store.
 */
export interface SessionStore {
  /** Whether everything is in the memory of this process, where no other node sees it. */
  readonly isInMemory?: boolean | undefined
  /** Knows the nodes that share the store. A server asks it if it has the store without its driver. */
  readonly nodes?: NodeStore | undefined
  /**
   * Adds a session. If there is no room, the session that was unused for the longest time, of the owner with the most sessions, is evicted
   * first; answers its id then. If that session is fresh, it is evicted only if its owner has at least two sessions, and the owner of the
   * new one, without this one, has fewer than a quarter as many; otherwise `create` answers `full`. So nobody keeps others out by using
   * many sessions in turn, and nobody evicts fresh sessions by opening many.
   */
  create(session: NewSession, room: SessionRoom): Soon<'created' | 'full' | EvictedSession>
  /**
   * Begins to use a session, which prolongs it: undefined if there is none. `known` is the version that the node has, if it has one. A session
   * whose fields are not as `expected`, where null stands for no field, counts as none: it is not prolonged, and nothing else of it is read.
   */
  use(
    id: string,
    known: number | undefined,
    idleMs: number,
    expected?: FieldChanges,
  ): Soon<StoredSession | undefined>
  /** Replaces fields, or removes those that are null. Answers the new version, which is 1 more, or undefined if there is no such session. */
  change(id: string, fields: FieldChanges): Soon<number | undefined>
  /** Ends a session. Answers whether there was one. */
  end(id: string): Soon<boolean>
  /** The number of sessions. Those that ended without use may be counted for a little longer. */
  count(): Soon<number>
}
