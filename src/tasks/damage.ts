import { soon } from '../base/soon.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TASK_DAMAGED } from '../errors/tasks.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { outcomeText } from './outcome.ts'
import type { TaskRecord, TaskState } from './record.ts'
import type { TaskRunner } from './runner.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Soon } from './store.ts'

/** Ends a task whose record is damaged, unless the store did, and reports it. */
export function endDamaged(tasks: TaskRunner, record: TaskRecord, error: McpError): Soon<void> {
  const { id, version, status, statusMessage } = record
  const isEnded = isFinal(status)
  const reason = isEnded ? statusMessage : error.message
  tasks.host.report('error', 'a stored task is damaged; it has failed', { task: id, reason })
  if (isEnded) return undefined
  const change = {
    status: 'failed',
    statusMessage: error.message,
    updatedAt: tasks.clock.now(),
    outcome: outcomeText({ error }),
    state: '',
    node: '',
    key: '',
    dueAt: 0,
  } as const
  return soon(tasks.store.change(id, version, change), () => undefined)
}

/** A JSON object; undefined if the text is anything else. */
export function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The state that attempts share. Throws if the text is anything else. */
export function readState(text: string): TaskState {
  const state = parsed(text)
  if (!isState(state)) throw mcpError(TASK_DAMAGED, { part: 'state' })
  return state as unknown as TaskState
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isQuestion = (value: unknown): boolean =>
  isObject(value) && isText(value['method']) && isObject(value['params'])

/** Whether a value is a list whose elements are lists that begin with a key. */
function isKeyed(value: unknown, isElement: (element: readonly unknown[]) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => Array.isArray(one) && isText(one[0]) && isElement(one))
}

function isState(state: JsonObject | undefined): boolean {
  if (state === undefined) return false
  // The last three are missing if they are empty.
  const { answers, once, questions, asked, failures = 0, crashes = 0, refusals = [] } = state
  return (
    [asked, failures, crashes].every((count) => typeof count === 'number') &&
    isKeyed(answers, ([, question, answer]) => isQuestion(question) && isObject(answer)) &&
    isKeyed(once, () => true) &&
    isKeyed(questions, ([, question]) => isQuestion(question)) &&
    isKeyed(
      refusals,
      ([, error, question]) => isText(error) && (question === undefined || isQuestion(question)),
    )
  )
}
