import { mcpError } from '../errors/error.ts'
import { INPUT_REQUIRED } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'

/** A question inside an `input_required` result. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
}

/** The state of a request with several rounds: earlier answers, values of `ctx.once`, and the open questions. */
export interface Rounds {
  /** Answers to questions of earlier rounds, and of this one. Only these are kept for later rounds. */
  readonly answers: Map<string, JsonObject>
  /** Answers that came with the first request, before their questions. The official conformance suite sends such answers. */
  readonly early: Map<string, JsonObject>
  readonly once: Map<string, Promise<unknown>>
  readonly questions: Map<string, Question>
  /** Digests of the questions without a key that earlier rounds asked: their answers count for no other question. */
  readonly digests: Map<string, string>
  /** The questions without a key that this round asked or answered first. */
  readonly first: Map<string, Question>
  /** Numbers the questions without a key, in the order in which the handler asks them. */
  asked: number
  /** Whether this round is over: what runs from now on would be missing in the state. */
  ended: boolean
  /** The questions that the handler asked and that are not settled: the name of the function, such as `elicit`, for each. */
  readonly open: Set<Asked>
}

/** A question that a handler asked. */
export interface Asked {
  /** The name of the function, such as `elicit`. */
  readonly name: string
}

export function newRounds(): Rounds {
  return {
    answers: new Map(),
    early: new Map(),
    once: new Map(),
    questions: new Map(),
    digests: new Map(),
    first: new Map(),
    asked: 0,
    ended: false,
    open: new Set(),
  }
}

/** The answer to a question, if the client has given one. */
export function answerTo({ answers, early }: Rounds, key: string): JsonObject | undefined {
  const first = early.get(key)
  if (first !== undefined && !answers.has(key)) answers.set(key, first)
  // An answer that cannot be used is deleted, and must not come back from here.
  early.delete(key)
  return answers.get(key)
}

/** The value that a function returned when it first ran; a function that failed may run again. */
export function onceIn({ once, ended }: Rounds, key: string, make: () => unknown): Promise<unknown> {
  const kept = once.get(key)
  if (kept !== undefined) return kept
  if (ended) throw mcpError(INPUT_REQUIRED, {})
  const value = (async () => make())()
  once.set(key, value)
  value.catch(() => once.delete(key))
  return value
}

/** Whether a request continues an earlier round. Sessions have no rounds. */
export function isLaterRound({ params, peer }: Call): boolean {
  if (params['requestState'] === undefined && params['inputResponses'] === undefined) return false
  return peer.session === undefined
}
