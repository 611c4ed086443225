import type { Some } from '../base/some.ts'
import type { Soon } from '../rpc/soon.ts'
import type { TaskHead, TaskRecord, TaskStatus } from './record.ts'

export type { Soon } from '../rpc/soon.ts'

/** How much a store may keep. `rejectionOf` and `hasBytes` judge by it. */
export interface TaskRoom {
  /** Tasks of all callers. Those of one network get three quarters of what the others leave. */
  readonly tasks: number
  /** Tasks of one scope. The empty scope has no limit of its own. */
  readonly callerTasks: number
  /** Bytes of all tasks: of their texts, and 512 for each. One scope gets a quarter of what the others leave. */
  readonly taskBytes: number
}

/** The tasks that a store keeps, of all callers or of some. */
export interface TaskSum {
  /** Their number. */
  readonly tasks: number
  /** The bytes of their texts, and 512 for each. */
  readonly bytes: number
}

/** The sums that decide whether there is room for a task, or for more of one. */
export interface TaskSums {
  /** Of all tasks. */
  readonly all: TaskSum
  /** Of those with its scope. Nobody looks at it if that is empty. */
  readonly scope: TaskSum
  /** Of those with its network. Nobody looks at it if that is empty. */
  readonly network: TaskSum
}

/** Why there is no room for a new task. */
export interface Rejected {
  /** There is none for any task, for one of this scope or network, or for so many bytes. */
  readonly outcome: 'full' | 'caller_full' | 'too_large'
  /** The number that is reached. */
  readonly limit: number
}

/** What became of a new task. */
export type Created =
  | {
      /** It was added. */
      readonly outcome: 'created'
    }
  | {
      /** A task with the same server, scope, tool and key exists. */
      readonly outcome: 'exists'
      /** The head of that task. */
      readonly head: TaskHead
    }
  | Rejected

/** The members of a record that a change may replace. A key that another task has is not given: the task then has none. */
export type TaskChange = Some<
  Pick<
    TaskRecord,
    | 'status'
    | 'statusMessage'
    | 'isError'
    | 'updatedAt'
    | 'ttlMs'
    | 'pollMs'
    | 'attempt'
    | 'dueAt'
    | 'node'
    | 'key'
    | 'isShared'
    | 'request'
    | 'state'
    | 'outcome'
  >
>

/** A text of a task that can be read without the others. */
export type TaskText = 'request' | 'state' | 'outcome'

/** A task with one of its texts. */
export interface TaskExcerpt {
  /** The head, at the same version as the text. */
  readonly head: TaskHead
  /** The text; undefined if it is longer than asked for. */
  readonly text: string | undefined
  /** The bytes that the text takes at most, even if it was not read. */
  readonly bytes: number
}

/** Selects tasks for a list: of one scope for its callers, or of all for operators. */
export interface TaskQuery {
  /** The server whose tasks are listed, with those of no server. Without it, tasks of all. */
  readonly server?: string | undefined
  /** The scope whose tasks are listed. Without it, tasks of all. */
  readonly scope?: string | undefined
  /** Only tasks with this status. */
  readonly status?: TaskStatus | undefined
  /** Only tasks of this tool. */
  readonly tool?: string | undefined
  /** The id of the last task of the page before. Nothing follows a task that is gone, or of another scope. */
  readonly after?: string | undefined
  /** The most tasks in the answer. */
  readonly limit: number
}

/** The tasks that a node may claim: it can run no others. */
export interface OwnTasks {
  /** The name of its server. */
  readonly server: string
  /** The names of tools that it has. */
  readonly tools: readonly string[]
}

/**
 * Keeps tasks. Each method is one atomic step. A store in memory answers synchronously. Reads never parse or copy the texts of
 * tasks that they do not return.
 */
export interface TaskStore {
  /** Whether the tasks are in the memory of this process, so that servers count their bytes. */
  readonly isInMemory?: boolean | undefined
  /** How long a node counts as alive after its last sign of life, in milliseconds; 15,000 if not given. Stores in memory need none. */
  readonly leaseMs?: number | undefined
  /**
   * The time of the store, in milliseconds since 1970. All times that it gets are then of this clock, so nodes whose own clocks differ agree.
   * Without it, they are of the clock of the node.
   */
  now?(): Soon<number>
  /**
   * Makes the id of a new task, for stores that keep tasks better under ids of a form of their own. An id must be as hard to guess as 122
   * random bits, show neither an order nor a time, and have 21 to 64 characters: letters, digits, `-` and `_`. Other ids must work too. Without this, ids are 144 random bits.
   */
  newId?(): string
  /**
   * Makes sure that the store can be used, and answers a text that is the same for all who share it, and for nobody else. A server with tasks
   * calls it when it starts, and does not start if it fails, or if another node has another text. Without this, a store is not checked.
   */
  open?(): Soon<string>
  /** Adds a task, unless its key is taken or there is no room. Once it answers, the task survives a crash, if the store is durable. */
  create(record: TaskRecord, room: TaskRoom): Soon<Created>
  /** The whole record, for operators and retries; undefined if there is no such task. */
  get(id: string): Soon<TaskRecord | undefined>
  /** The head alone, for polls. */
  head(id: string): Soon<TaskHead | undefined>
  /**
   * The heads of those of these tasks that exist and belong to an owner, in any order; each id is given once. A server asks for a few hundred
   * at most. Without this, it reads one head after the other.
   */
  owned?(ids: readonly string[], owner: string): Soon<readonly TaskHead[]>
  /** The head and one text, which is not read if it may take more than `most` bytes; undefined if there is no such task. The other texts are never read. */
  read(id: string, text: TaskText, most: number): Soon<TaskExcerpt | undefined>
  /**
   * Changes a task if it still has this version, and adds 1 to it; answers the new head, or undefined if another change came first or
   * it is gone. With `room`, it fails with `tasksTooLarge` if the texts grow and there is none; without, they always have some.
   */
  change(id: string, version: number, change: TaskChange, room?: TaskRoom): Soon<TaskHead | undefined>
  /** Heads from the oldest to the newest. */
  list(query: TaskQuery): Soon<readonly TaskHead[]>
  /** Removes tasks whose time is over (`createdAt + ttlMs <= now`), unfinished ones too; at most `limit`, the earliest first. Answers the ids. */
  expire(now: number, limit: number): Soon<readonly string[]>
  /**
   * Assigns to `node` up to `limit` of its own unfinished tasks, or of no server, that no living node runs and that are due: those of
   * dead nodes, and those that wait for another attempt. If it cannot assign all, callers (networks, or scopes without one) take turns, within a call and from one call to the next. Answers their records with the new node and version; nothing else changes. The node that asks is alive.
   * A task that the store cannot read becomes `failed` instead, and is answered once, so that the server reports it.
   */
  claim(node: string, now: number, limit: number, own: OwnTasks): Soon<readonly TaskRecord[]>
  /** Says that `node` is alive until then, and no longer. Tasks of nodes that are not, or that never said so, can be claimed. */
  beat(node: string, until: number): Soon<void>
  /** Calls `onChange` with the id of each task that was changed, claimed or removed, also on other nodes if they share the store. Returns a function that stops it. */
  watch(onChange: (id: string) => void): () => void
  /**
   * Calls `onReady` on one of the nodes that ask for it whenever a task of a server waits for a node and is due, so that the node claims it at once.
   * What that returns resolves after the claim; a task that still waits then is for another node. Returns a function that stops it. Without this, nodes claim from time to time.
   */
  onReady?(server: string, onReady: () => Promise<void>): () => Soon<void>
  /** Ends the store: later calls fail. Closing again does nothing. */
  close(): Soon<void>
}
