import { CLIENT_TASK_RULES } from '../../src/validate/client-rules/tasks.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { declaring } from './client-changes.ts'
import type { ClientFault } from './client-fault.ts'
import { without } from './fault.ts'
import { proveClient } from './prove-client.ts'

/** Changes a task in a result. */
function changed(message: Message, change: (task: Message) => Message): Message {
  const { result } = message
  if (!isObject(result)) return message
  if (isObject(result['task'])) return { ...message, result: { task: change(result['task']) } }
  return 'taskId' in result ? { ...message, result: change(result) } : message
}

const isCreated = (message: Message): boolean => member(message, 'result', 'task') !== undefined

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R240',
    does: 'answers at once',
    message: (message) => (isCreated(message) ? { ...message, result: { action: 'cancel' } } : message),
  },
  {
    rule: 'R240',
    does: 'begins with another state',
    message: (message) =>
      isCreated(message) ? changed(message, (task) => ({ ...task, status: 'completed' })) : message,
  },
  {
    rule: 'R241',
    does: 'has another state',
    message: (message) => changed(message, (task) => ({ ...task, status: 'done' })),
  },
  { rule: 'R241', does: 'works on a task again', quirk: 'reopens tasks' },
  {
    rule: 'R242',
    does: 'leaves out ttl',
    message: (message) => changed(message, (task) => without(task, 'ttl')),
  },
  { rule: 'R243', does: 'does not wait', quirk: 'does not wait for tasks' },
  {
    rule: 'R243',
    does: 'leaves out the task in _meta',
    message: (message) =>
      isObject(message['result']) ? { ...message, result: without(message['result'], '_meta') } : message,
  },
  {
    rule: 'R244',
    does: 'has another error',
    message: (message) =>
      member(message, 'error', 'code') === -32_602
        ? { ...message, error: { code: -32_603, message: 'no' } }
        : message,
  },
  { rule: 'R244', does: 'finishes cancelled tasks', quirk: 'finishes cancelled tasks' },
  {
    rule: 'R247',
    does: 'makes tasks without declaring them',
    message: (message) => declaring(message, (capabilities) => without(capabilities, 'tasks')),
  },
  {
    rule: 'R259',
    does: 'leaves out the id of the task',
    headers: (headers, _method, message) =>
      message?.['method'] === 'tasks/get'
        ? Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'mcp-name'))
        : headers,
  },
]

const VARIANTS: readonly ClientFault[] = [
  { rule: 'R247', does: 'has no tasks, and ignores them', quirk: 'has no tasks' },
]

proveClient('Tasks of clients', CLIENT_TASK_RULES, FAULTS, VARIANTS)
