import { UNKNOWN_TASK_RULES } from '../../src/validate/server-rules/unknown-tasks.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inResult, without, type Fault, type Instead } from './fault.ts'
import { prove } from './prove.ts'

const STATE = {
  taskId: 'validator-unknown-task',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: null,
}

/** Answers requests of these methods for tasks that do not exist. */
const unknown =
  (methods: readonly string[], instead: Message): NonNullable<Fault['message']> =>
  (message, request): Instead =>
    methods.includes(String(request?.['method'])) && member(message, 'error', 'code') === -32_602
      ? { ...without(message, 'error'), ...instead }
      : message

const notFound = (code: number): Message => ({ error: { code, message: 'no such task' } })
const FOUND: Message = { result: { resultType: 'complete', ...STATE } }

const FAULTS: readonly Fault[] = [
  { rule: 'V241', does: 'says -32601 for unknown tasks', message: unknown(['tasks/get'], notFound(-32_601)) },
  { rule: 'V241', does: 'says -32002 for unknown tasks', message: unknown(['tasks/get'], notFound(-32_002)) },
  { rule: 'V241', does: 'returns tasks that do not exist', message: unknown(['tasks/get'], FOUND) },
  {
    rule: 'V241',
    does: 'has results of unknown tasks',
    revisions: ['2025-11-25'],
    message: unknown(['tasks/result'], { result: { content: [] } }),
  },
  {
    rule: 'V241',
    does: 'cancels unknown tasks',
    revisions: ['2025-11-25'],
    message: unknown(['tasks/cancel'], FOUND),
  },
  {
    rule: 'V242',
    does: 'cancels unknown tasks',
    message: unknown(['tasks/cancel'], { result: { resultType: 'complete' } }),
  },
  {
    rule: 'V242',
    does: 'updates unknown tasks',
    message: unknown(['tasks/update'], { result: { resultType: 'complete' } }),
  },
  {
    rule: 'V243',
    does: 'lists no tasks',
    message: inResult('tasks/list', (result) => ({ ...result, tasks: [] })),
  },
  {
    rule: 'V243',
    does: 'lists ids alone',
    message: inResult('tasks/list', (result) => ({
      ...result,
      tasks: (result['tasks'] as readonly Message[]).map(({ taskId }) => ({ taskId })),
    })),
  },
  { rule: 'V243', does: 'returns no list', message: inResult('tasks/list', () => ({})) },
  {
    rule: 'V243',
    does: 'does not know tasks/list',
    message: (message, request) =>
      request?.['method'] === 'tasks/list'
        ? { ...without(message, 'result'), ...notFound(-32_601) }
        : message,
  },
  {
    rule: 'V243',
    does: 'accepts every cursor',
    message: unknown(['tasks/list'], { result: { tasks: [] } }),
  },
]

prove('tasks that do not exist, and lists of tasks', UNKNOWN_TASK_RULES, FAULTS)
