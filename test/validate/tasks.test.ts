import { TASK_RULES } from '../../src/validate/server-rules/tasks.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes each task that the server shows at 2025-11-25. */
function inTask(change: (task: Message) => Message): NonNullable<Fault['message']> {
  return (message) => {
    const result = message['result'] as Message | undefined
    if (isObject(result?.['task'])) return { ...message, result: { task: change(result['task']) } }
    return result?.['taskId'] === undefined ? message : { ...message, result: change(result) }
  }
}

const ended = new Set<unknown>()

const FAULTS: readonly Fault[] = [
  {
    rule: 'R240',
    does: 'returns new tasks as completed',
    message: inResult('tools/call', (result) =>
      isObject(result['task']) ? { task: { ...result['task'], status: 'completed' } } : result,
    ),
  },
  {
    rule: 'R240',
    does: 'answers with a plain result',
    message: inResult('tools/call', (result) => (isObject(result['task']) ? { content: [] } : result)),
  },
  {
    rule: 'R241',
    does: 'works again after the end',
    message: inResult('tasks/get', (result) => {
      if (result['status'] === 'working' || result['status'] === 'input_required') return result
      if (ended.has(result['taskId'])) return { ...result, status: 'working' }
      ended.add(result['taskId'])
      return result
    }),
  },
  {
    rule: 'R241',
    does: 'has a state of its own',
    message: inResult('tasks/get', (result) => ({ ...result, status: 'done' })),
  },
  { rule: 'R242', does: 'leaves out ttl', message: inTask((task) => without(task, 'ttl')) },
  {
    rule: 'R242',
    does: 'has a number as a time',
    message: inTask((task) => ({ ...task, lastUpdatedAt: 1_763_452_800 })),
  },
  {
    rule: 'R243',
    does: 'does not name the task',
    message: inResult('tasks/result', (result) => without(result, '_meta')),
  },
  {
    rule: 'R243',
    does: 'does not wait for the end',
    answer: ({ id, method }) =>
      method === 'tasks/result'
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'the task is not done' } }
        : undefined,
  },
  {
    rule: 'R244',
    does: 'answers late cancellations with another code',
    message: (message, request) =>
      request?.['method'] === 'tasks/cancel'
        ? (inError(-32_602, (error) => ({ ...error, code: -32_603 }))(message) as Message)
        : message,
  },
  {
    rule: 'R244',
    does: 'completes tasks that were cancelled',
    message: inResult('tasks/get', (result) =>
      result['status'] === 'cancelled' ? { ...result, status: 'completed' } : result,
    ),
  },
  {
    rule: 'R246',
    does: 'calls such a tool at once',
    answer: ({ id, method, params }) =>
      method === 'tools/call' &&
      member(params, 'name') === 'interview' &&
      member(params, 'task') === undefined
        ? { jsonrpc: '2.0', id, result: { content: [] } }
        : undefined,
  },
  {
    rule: 'R247',
    does: 'makes tasks that it did not declare',
    message: inResult('initialize', (result) => ({
      ...result,
      capabilities: without(result['capabilities'] as Message, 'tasks'),
    })),
  },
  {
    rule: 'V240',
    does: 'loses the content of results',
    message: (message, request) => {
      const result = message['result'] as Message | undefined
      if (request?.['method'] === 'tasks/result' && result !== undefined)
        return { ...message, result: without(result, 'content') }
      return isObject(result?.['result'])
        ? { ...message, result: { ...result, result: without(result['result'], 'content') } }
        : message
    },
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R246',
    does: 'refuses with -32600',
    message: inError(-32_601, (error) => ({ ...error, code: -32_600 })),
  },
  { rule: 'R242', does: 'keeps tasks for ever', message: inTask((task) => ({ ...task, ttl: null })) },
]

prove('Tasks [S1-12-4]', TASK_RULES, FAULTS, VARIANTS)
