/** The states of a task. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** Whether each state is one that never changes any more. */
const IS_FINAL: ReadonlyMap<unknown, boolean> = new Map<TaskStatus, boolean>([
  ['working', false],
  ['input_required', false],
  ['completed', true],
  ['failed', true],
  ['cancelled', true],
])

/** Whether a state is one that never changes any more. */
export function isFinal(status: TaskStatus): boolean {
  return IS_FINAL.get(status) === true
}

/** Whether a value is the name of a state. */
export function isTaskStatus(value: unknown): value is TaskStatus {
  return IS_FINAL.has(value)
}

/** The most characters of a task id that anybody could have got from us. */
export const MOST_TASK_ID_CHARS = 64
