import { type McpError, mcpError } from '../errors/error.ts'
import { ASK_INVALID } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { type AttemptState, ownKey } from './attempt-state.ts'
import type { TaskQuestion } from './record.ts'
import { isTooLarge } from './room.ts'

/** The parts of `limits.taskResultBytes` that all answers of a task may have together, and that one form may: each change of the state of a task writes all of its answers. */
const PART = 1 / 4
const FORM_PART = 1 / 16

/** Throws if the answer to one of the questions with these names is too long, by itself or with all others. */
export function checkAnswers(
  shared: AttemptState,
  names: readonly string[],
  { taskResultBytes }: Pick<Limits, 'taskResultBytes'>,
): void {
  const found = tooLong(shared, names.map(ownKey), taskResultBytes)
  if (found !== undefined) throw mcpError(ASK_INVALID, { method: found[0].method, issue: found[1] })
}

/** A question whose answer is too long, and why; undefined if there is none. */
function tooLong(
  shared: AttemptState,
  keys: readonly string[],
  taskResultBytes: number,
): readonly [TaskQuestion, string] | undefined {
  const most = Math.floor(taskResultBytes * PART)
  const mostOfForm = Math.floor(taskResultBytes * FORM_PART)
  for (const [question, bytes] of shared.answersTo(keys)) {
    const isForm = question.method === 'elicitation/create'
    if (isForm && bytes > mostOfForm)
      return [question, `it has more than ${mostOfForm} bytes, a sixteenth of limits.taskResultBytes`]
    if (bytes > most) return [question, `it has more than ${most} bytes, a quarter of limits.taskResultBytes`]
    if (shared.answerBytes > most)
      return [
        question,
        `with the other answers of its task it has more than ${most} bytes, a quarter of limits.taskResultBytes`,
      ]
  }
  return undefined
}

/** Keeps an answer that came before there was a task, unless it is too long: then a further attempt asks again. */
export function keepEarly(
  shared: AttemptState,
  [key, question, answer]: readonly [string, TaskQuestion, JsonObject | undefined],
  { taskResultBytes }: Pick<Limits, 'taskResultBytes'>,
): void {
  shared.keep(key, question, answer)
  if (tooLong(shared, [key], taskResultBytes) !== undefined) shared.keep(key, question, undefined)
}

/** Whether an error says that an answer has no room, so that nobody could give one: the handler must know. */
export function hasNoRoom(error: unknown): error is McpError {
  return isTooLarge(error) || (error as Partial<McpError> | undefined)?.kind === ASK_INVALID.kind
}
