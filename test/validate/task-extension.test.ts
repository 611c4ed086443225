import { TASK_EXTENSION_RULES } from '../../src/validate/server-rules/task-extension.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'
import { refusedWithout } from './refused.ts'

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const TASK = {
  resultType: 'task',
  taskId: 'a-task',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: null,
}
const hasExtension = (params: unknown): boolean =>
  member(params, '_meta', CAPABILITIES, 'extensions') !== undefined

const read = new Set<unknown>()

const FAULTS: readonly Fault[] = [
  {
    rule: 'R250',
    does: 'makes tasks for every client',
    answer: ({ id, method, params }) =>
      method === 'tools/call' && member(params, 'name') === 'work' && !hasExtension(params)
        ? { jsonrpc: '2.0', id, result: TASK }
        : undefined,
  },
  {
    rule: 'R250',
    does: 'makes tasks for the old capability',
    answer: ({ id, method, params }) =>
      method === 'tools/call' && member(params, '_meta', CAPABILITIES, 'tasks') !== undefined
        ? { jsonrpc: '2.0', id, result: TASK }
        : undefined,
  },
  {
    rule: 'R251',
    does: 'returns "task" from tasks/get',
    message: inResult('tasks/get', (result) => ({ ...result, resultType: 'task' })),
  },
  {
    rule: 'R251',
    does: 'returns "task" from tasks/cancel',
    message: inResult('tasks/cancel', (result) => ({ ...result, resultType: 'task' })),
  },
  {
    rule: 'R252',
    does: 'does not know a task at first',
    answer: ({ id, method, params }) => {
      const task = member(params, 'taskId')
      if (method !== 'tasks/get' || read.has(task)) return undefined
      read.add(task)
      return { jsonrpc: '2.0', id, error: { code: -32_602, message: 'unknown task' } }
    },
  },
  {
    rule: 'R253',
    does: 'has no result',
    message: inResult('tasks/get', (result) => without(result, 'result')),
  },
  {
    rule: 'R253',
    does: 'has no questions',
    message: inResult('tasks/get', (result) => without(result, 'inputRequests')),
  },
  {
    rule: 'R254',
    does: 'fails tasks of tools that fail',
    message: inResult('tasks/get', (result) =>
      member(result, 'result', 'isError') === true ? { ...result, status: 'failed' } : result,
    ),
  },
  {
    rule: 'R254',
    does: 'has texts as errors',
    message: inResult('tasks/get', (result) =>
      member(result, 'result', 'isError') === true
        ? { ...without(result, 'result'), status: 'failed', error: 'the ship has sunk' }
        : result,
    ),
  },
  {
    rule: 'R255',
    does: 'uses a key twice',
    message: inResult('tasks/get', (result) => {
      const asked = result['inputRequests']
      const second = isObject(asked) ? asked['elicit-2.2'] : undefined
      return second === undefined
        ? result
        : { ...result, inputRequests: { ...(asked as Message), 'elicit-1.1': second } }
    }),
  },
  {
    rule: 'R255',
    does: 'refuses answers that it did not ask for',
    answer: ({ id, method, params }) =>
      method === 'tasks/update' && member(params, 'inputResponses', 'validator-unknown') !== undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'unknown answer' } }
        : undefined,
  },
  {
    rule: 'R256',
    does: 'returns the task from tasks/cancel',
    message: inResult('tasks/cancel', (result) => ({ ...result, status: 'cancelled' })),
  },
  {
    rule: 'R256',
    does: 'returns the task from tasks/update',
    message: inResult('tasks/update', (result) => ({ ...result, status: 'working' })),
  },
  {
    rule: 'R257',
    does: 'shows tasks to every client',
    answer: ({ id, method, params }) =>
      method === 'tasks/get' && !hasExtension(params)
        ? { jsonrpc: '2.0', id, result: { ...TASK, resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R257',
    does: 'acknowledges tasks to every client',
    answer: ({ id, method, params }) =>
      method === 'subscriptions/listen' && !hasExtension(params)
        ? {
            jsonrpc: '2.0',
            method: 'notifications/subscriptions/acknowledged',
            params: {
              notifications: member(params, 'notifications'),
              _meta: { 'io.modelcontextprotocol/subscriptionId': id },
            },
          }
        : undefined,
  },
  {
    rule: 'R258',
    does: 'answers tasks/result',
    answer: ({ id, method }) =>
      method === 'tasks/result'
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } }
        : undefined,
  },
  {
    rule: 'R258',
    does: 'refuses the old parameter',
    answer: ({ id, method, params }) =>
      method === 'tools/call' && member(params, 'task') !== undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'unknown parameter' } }
        : undefined,
  },
  {
    rule: 'R259',
    does: 'does not look at Mcp-Name',
    request: (request) => {
      const id = member(request.message, 'params', 'taskId')
      return typeof id === 'string'
        ? { ...request, headers: { ...request.headers, 'mcp-name': id } }
        : request
    },
  },
  {
    rule: 'R260',
    does: 'reports the progress of tasks',
    message: (message, request) =>
      request?.['method'] === 'tasks/get'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken: 'task-1', progress: 1 },
            },
            message,
          ]
        : message,
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  ...['R257', 'R259'].map((rule): Fault => ({
    rule,
    does: 'refuses without an id',
    transports: ['http'],
    http: refusedWithout('id'),
  })),
  {
    rule: 'R254',
    does: 'fails with a JSON-RPC error',
    message: inResult('tasks/get', (result) =>
      member(result, 'result', 'isError') === true
        ? { ...without(result, 'result'), status: 'failed', error: { code: -32_603, message: 'sunk' } }
        : result,
    ),
  },
  {
    rule: 'R257',
    does: 'says more about what is missing',
    message: inError(-32_021, (error) => ({ ...error, message: 'the extension is missing' })),
  },
]

prove('Extension for tasks', TASK_EXTENSION_RULES, FAULTS, VARIANTS)
