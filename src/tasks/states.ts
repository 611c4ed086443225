import type { TaskHead, TaskStatus } from './record.ts'

/** The reasons for which a task changes its state. */
export type TaskEvent = 'ask' | 'answer' | 'progress' | 'attempt' | 'return' | 'fail' | 'cancel' | 'release'

/** The state that follows from an event, for each state in which it is legal. */
export const TRANSITIONS: Readonly<Record<TaskStatus, Readonly<Partial<Record<TaskEvent, TaskStatus>>>>> = {
  working: {
    ask: 'input_required',
    answer: 'working',
    progress: 'working',
    attempt: 'working',
    release: 'working',
    return: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  },
  input_required: {
    ask: 'input_required',
    answer: 'working',
    progress: 'input_required',
    attempt: 'working',
    release: 'working',
    return: 'completed',
    fail: 'failed',
    cancel: 'cancelled',
  },
  completed: {},
  failed: {},
  cancelled: {},
}

/** The state after an event; undefined if the event is not legal in this state. */
export function stateAfter(status: TaskStatus, event: TaskEvent): TaskStatus | undefined {
  return TRANSITIONS[status][event]
}

/** Whether the time of a task is over. */
export function isOver({ createdAt, ttlMs }: TaskHead, now: number): boolean {
  return ttlMs !== null && createdAt + ttlMs <= now
}
