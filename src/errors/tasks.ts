/* Errors of tasks. */

export const UNKNOWN_TASK = {
  kind: 'unknown_task',
  code: -32602,
  text: 'task "{id}" does not exist, or no longer',
  hint: 'Use the id that the server answered, with the credentials that started the task, before its ttl is over.',
} as const

export const TASK_CANCELLED = {
  kind: 'task_cancelled',
  code: -32603,
  text: 'the task was cancelled',
  hint: 'Call the tool again to get a result.',
} as const
