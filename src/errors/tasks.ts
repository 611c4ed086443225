/* Errors of tasks. */

export const UNKNOWN_TASK = {
  kind: 'unknown_task',
  code: -32602,
  refusal: 'TASK_NOT_FOUND',
  text: 'task "{id}" does not exist, or has expired',
  hint: 'Use the id that the server answered, as the user and with the client (client id) that started the task, before its ttl is over.',
} as const

export const TASK_FINAL = {
  kind: 'task_final',
  code: -32602,
  refusal: 'INVALID_TASK_STATE',
  text: 'task "{id}" is already {status}',
  hint: 'Only a task that has not ended can be cancelled, and only one that failed can be retried.',
} as const

export const TASK_CANCELLED = {
  kind: 'task_cancelled',
  code: -32603,
  refusal: 'TASK_CANCELLED',
  text: 'the task was cancelled',
  hint: 'Call the tool again to get a result.',
} as const

export const TASK_EXPIRED = {
  kind: 'task_expired',
  where: 'local',
  code: -32603,
  text: 'the task expired while it ran: its ttl is over',
  hint: 'Give the tool a longer ttl, or let it do less.',
} as const

export const TASK_LOST = {
  kind: 'task_lost',
  code: -32603,
  refusal: 'TASK_DEPENDENCY_FAILED',
  text: 'the server stopped while the task ran (attempt {attempt})',
  hint: 'Call the tool again if that is safe; onRestart: "retry" makes the server do so.',
} as const

export const TASK_CRASHED = {
  kind: 'task_crashed',
  code: -32603,
  refusal: 'TASK_DEPENDENCY_FAILED',
  text: 'the server ended without notice {times} times while the task ran; it is not begun again',
  hint: 'Find out why in the logs of the server, since the tool may be what ends it; then call the tool again.',
} as const

export const TASK_DAMAGED = {
  kind: 'task_damaged',
  code: -32603,
  refusal: 'TASK_DEPENDENCY_FAILED',
  text: 'the stored task cannot be read: its {part} is damaged',
  hint: 'Call the tool again. If this happens again, restore the store from a backup, and let nothing else write to its tables.',
} as const

export const TASK_TIMEOUT = {
  kind: 'task_timeout',
  code: -32603,
  refusal: 'TASK_TIMEOUT',
  text: 'tool "{name}" did not finish its task within {ms} ms',
  hint: 'Ask for less at once, or raise the timeout of the tool.',
} as const

export const TASK_REQUIRED = {
  kind: 'task_required',
  code: -32601,
  refusal: 'PROTOCOL_ERROR',
  text: 'tool "{name}" can only be called as a task',
  hint: 'Call it with params.task, as its execution.taskSupport in tools/list says.',
} as const

export const TASK_FORBIDDEN = {
  kind: 'task_forbidden',
  code: -32601,
  refusal: 'PROTOCOL_ERROR',
  text: 'tool "{name}" cannot be called as a task',
  hint: 'Call it without params.task, or with mode "sync"; the option task of the tool would allow it.',
} as const

export const TOO_MANY_TASKS = {
  kind: 'too_many_tasks',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server already keeps {limit} tasks',
  tells: ['tasks', 'limit'],
  hint: 'Try again when others have expired, choose a shorter ttl, or raise limits.tasks.',
} as const

export const TOO_MANY_CALLER_TASKS = {
  kind: 'too_many_caller_tasks',
  code: 1060,
  http: 429,
  refusal: 'CONCURRENT_LIMIT_EXCEEDED',
  retryable: true,
  text: 'the server already keeps {limit} tasks of this caller, or of anonymous callers with its address',
  tells: ['callerTasks', 'limit'],
  hint: 'Try again when others have expired, choose a shorter ttl, authenticate, or raise limits.callerTasks.',
} as const

export const TASK_RESULT_TOO_LARGE = {
  kind: 'task_result_too_large',
  code: -32603,
  text: 'the result of the task has more than {limit} bytes',
  tells: ['taskResultBytes', 'limit'],
  hint: 'Return less, or a link to the rest; or raise limits.taskResultBytes.',
} as const

export const TASKS_TOO_LARGE = {
  kind: 'tasks_too_large',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server has no room for this task: all share {limit} bytes, and one caller gets at most a quarter of what the others leave',
  tells: ['taskBytes', 'limit'],
  hint: 'Try again when others have expired, send and return less, or raise limits.taskBytes.',
} as const
