import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { TaskStatus } from '../protocol/task-status.ts'
import type { TaskQuestion } from '../rpc/call.ts'
import type { Scopes } from '../rpc/scopes.ts'

export type { TaskStatus } from '../protocol/task-status.ts'
export type { TaskQuestion } from '../rpc/call.ts'

/** The part of a task that lists and polls need: small, and of bounded size. */
export interface TaskHead {
  /** Unguessable, and without an order: 144 random bits, or what `newId` of the store made. */
  readonly id: string
  /** The name of the server that has its tool, since several may share a store. Empty if it was created before stores kept it. */
  readonly server: string
  /** The caller that it belongs to. For anybody else it does not exist. Empty for callers that cannot be told apart. */
  readonly owner: string
  /** The callers that share lists and keys: `owner`, or a session. Empty if the task is in no list and has no key. */
  readonly scope: string
  /** The network of an anonymous caller, whose tasks share limits with those of the others there. Empty for others, and if it is unknown. */
  readonly network: string
  /** The name of the tool. */
  readonly tool: string
  /** The key of the caller, which makes a second call return this task, unless that ended with an error or was cancelled. Empty if it has none. */
  readonly key: string
  /** The arguments as text, or a digest of a long one, if the task has a key: calls with the same key are compared by it. Empty otherwise, and if an older program created the task. */
  readonly same: string
  /** Whether a call in another process than the one that created it has got it by its key: then calls that are given up do not cancel it. */
  readonly isShared: boolean
  /** Where it is in its life. */
  readonly status: TaskStatus
  /** The last message of its progress, or why it ended. */
  readonly statusMessage: string
  /** Whether its outcome is a result that has `isError`: 2025-11-25 calls such a task failed, 2026-07-28 completed. */
  readonly isError: boolean
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number
  /** When the status or its message changed last. */
  readonly updatedAt: number
  /** How long it is kept after its creation; never removed if null. */
  readonly ttlMs: number | null
  /** How long clients should wait between two polls. */
  readonly pollMs: number
  /** The number of the attempt that runs, or that ended it; 1 is the first. */
  readonly attempt: number
  /** When a task that waits for another attempt may begin it; 0 otherwise. */
  readonly dueAt: number
  /** The node that runs it; empty while it waits, and once it is final. */
  readonly node: string
  /** Increases with each change. A change names the version that it replaces. */
  readonly version: number
}

/** A task as a store keeps it. The texts are JSON, so that every driver counts and moves the same bytes. */
export interface TaskRecord extends TaskHead {
  /** What is needed to run it again: a `TaskRequest`. Once that cannot happen any more, a long one has lost its arguments. */
  readonly request: string
  /** Answers and values of `ctx.once` that a further attempt needs, and open questions: a `TaskState`. Empty if there are none. */
  readonly state: string
  /** `{ result }` or `{ error }` once it has completed or failed; empty otherwise. */
  readonly outcome: string
}

/** The head of a record. All heads have the same shape, which is much faster than to copy the rest of an object. */
export function headOf(record: TaskHead): TaskHead {
  const { id, server, owner, scope, network, tool, key, same, isShared, status, statusMessage, isError } =
    record
  const { createdAt, updatedAt, ttlMs, pollMs, attempt, dueAt, node, version } = record
  return {
    id,
    server,
    owner,
    scope,
    network,
    tool,
    key,
    same,
    isShared,
    status,
    statusMessage,
    isError,
    createdAt,
    updatedAt,
    ttlMs,
    pollMs,
    attempt,
    dueAt,
    node,
    version,
  }
}

/** The request behind a task. */
export interface TaskRequest {
  /** The same text as `same` of the head: the first member, because older programs look for it there. */
  readonly same?: string | undefined
  readonly revision: string
  /** `name`, `arguments`, and `_meta` without what concerns only the first request. */
  readonly params: JsonObject
  readonly client:
    | { readonly name: string; readonly version: string; readonly title?: string | undefined }
    | undefined
  readonly capabilities: JsonObject
  readonly auth: JsonObject | undefined
  readonly ip: string | undefined
  /** The scopes of everyone who uses its transport, where that does not authenticate. */
  readonly scopes?: Scopes | undefined
}

/** What the attempts of a task share. */
export interface TaskState {
  /** Answers by key, each with its question, so that an answer never counts for another question. */
  readonly answers: readonly (readonly [key: string, question: TaskQuestion, answer: JsonObject])[]
  /** Values of `ctx.once` by key; JSON has no undefined, which is an entry without a value. */
  readonly once: readonly (readonly [key: string, value?: unknown])[]
  /** Open questions by key. Keys are unique over the life of a task. */
  readonly questions: readonly (readonly [key: string, question: TaskQuestion])[]
  /** The number of questions so far, which makes keys unique. */
  readonly asked: number
  /** Attempts that ended with an error, which `retries` limits. */
  readonly failures?: number | undefined
  /** Attempts whose process ended without notice since something was kept last. */
  readonly crashes?: number | undefined
  /** Questions that the client refused where no handler waits, each with the text of an outcome. */
  readonly refusals?: readonly (readonly [key: string, error: string, question?: TaskQuestion])[] | undefined
}
