import { type McpError, mcpError } from '../errors/error.ts'
import { ASK_INVALID } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { type AttemptState, ownKey } from './attempt-state.ts'
import type { TaskQuestion } from './record.ts'

/** The part of `limits.taskResultBytes` that one answer may have: each change of the state of a task writes all of its answers. */
const PART = 1 / 4

/** Throws if the answer to one of the questions with these names is too long. */
export function checkAnswers(
  shared: AttemptState,
  names: readonly string[],
  { taskResultBytes }: Pick<Limits, 'taskResultBytes'>,
): void {
  const most = Math.floor(taskResultBytes * PART)
  const question = shared.tooLong(names.map(ownKey), most)
  if (question === undefined) return
  const issue = `it has more than ${most} bytes, a quarter of limits.taskResultBytes`
  throw mcpError(ASK_INVALID, { method: question.method, issue })
}

/** Keeps an answer that came before there was a task, unless it is too long: then a further attempt asks again. */
export function keepEarly(
  shared: AttemptState,
  [key, question, answer]: readonly [string, TaskQuestion, JsonObject | undefined],
  { taskResultBytes }: Pick<Limits, 'taskResultBytes'>,
): void {
  shared.keep(key, question, answer)
  if (shared.tooLong([key], taskResultBytes * PART) !== undefined) shared.keep(key, question, undefined)
}

/** Whether an error says that an answer is too long. */
export function isTooLong(error: unknown): error is McpError {
  return (error as Partial<McpError> | undefined)?.kind === ASK_INVALID.kind
}
