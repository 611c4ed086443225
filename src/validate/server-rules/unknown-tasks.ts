import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  answeredWith,
  D_ONLY,
  D_TO_E,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { hasTasks, startedRuns, withTasks } from './task-runs.ts'

/** An id that no server gives out. */
const NO_TASK = 'validator-unknown-task'
const NO_TASKS: Verdict = absent('the server does not run tools as tasks')
/** The most pages of a list that are read. */
const MOST_PAGES = 10

/** Rules about tasks that do not exist, and about the list of those that do. */
export const UNKNOWN_TASK_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'V241',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'Requests for a task that does not exist are answered with error -32602.',
    how: 'Sends tasks/get with an unknown id, at 2025-11-25 also tasks/result and tasks/cancel.',
    fix: 'Answer with -32602 if there is no task with the id.',
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const cancels = member(await subject.capabilities(), 'tasks', 'cancel') !== undefined
      const methods = subject.isModern
        ? ['tasks/get']
        : ['tasks/get', 'tasks/result', ...(cancels ? ['tasks/cancel'] : [])]
      return eachMethod(subject, methods, {})
    },
  },
  {
    id: 'V242',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'tasks/update and tasks/cancel for a task that does not exist are answered with error -32602.',
    how: 'Sends both with an unknown id.',
    fix: 'Answer with -32602 if there is no task with the id.',
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      return eachMethod(subject, ['tasks/update', 'tasks/cancel'], { inputResponses: {} })
    },
  },
  {
    id: 'V243',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A server that declares tasks.list lists its tasks, and answers a made-up cursor with error -32602.',
    how: 'Reads the list, also with a made-up cursor; with --allow-calls, looks for a task that exists.',
    fix: 'Return { "tasks": [{ "taskId", "status", "createdAt", "lastUpdatedAt", "ttl" }] }, and nextCursor if there are more.',
    isLast: true,
    async check(subject) {
      if (member(await subject.capabilities(), 'tasks', 'list') === undefined)
        return absent('the server does not list tasks')
      const runs = subject.mayCall ? await startedRuns(subject) : []
      const session = await subject.forCalls()
      const listed: unknown[] = []
      let cursor: unknown
      for (let page = 0; page < MOST_PAGES; page++) {
        const params = cursor === undefined ? undefined : { cursor }
        const { result, error, problem } = await session.request('tasks/list', params)
        const tasks = member(result, 'tasks')
        if (!Array.isArray(tasks))
          return failed(
            problem ??
              (error === undefined
                ? 'tasks/list returns no list of tasks'
                : `tasks/list is answered with code ${String(error['code'])}`),
          )
        const wrong = tasks.map(wrongTask).find((found) => found !== undefined)
        if (wrong !== undefined) return failed(`tasks/list returns a task without a proper ${wrong}`)
        listed.push(...tasks.map((task) => member(task, 'taskId')))
        cursor = result?.['nextCursor']
        if (cursor === undefined) break
        if (typeof cursor !== 'string') return failed('the nextCursor of tasks/list is not a text')
      }
      // Only a whole list says what is not in it.
      const missing = cursor === undefined ? runs.find(({ id }) => !listed.includes(id)) : undefined
      if (missing !== undefined) return failed('tasks/list leaves out a task that exists')
      const made = await session.request('tasks/list', { cursor: 'validator-made-up' })
      if (made.error === undefined) return failed(made.problem ?? 'tasks/list accepts a made-up cursor')
      return answeredWith(-32_602, made.error, 'a made-up cursor')
    },
  },
]

async function eachMethod(
  subject: ServerSubject,
  methods: readonly string[],
  more: Message,
): Promise<Verdict> {
  const session = await subject.shared()
  for (const method of methods) {
    const params = { taskId: NO_TASK, ...(method === 'tasks/update' && more) }
    const options = subject.isModern ? { capabilities: withTasks(session) } : {}
    const { error, problem } = await session.request(method, params, options)
    if (error === undefined)
      return failed(problem ?? `${method} of a task that does not exist returns a result`)
    const verdict = answeredWith(-32_602, error, `${method} of a task that does not exist`)
    if (verdict.is !== 'passed') return verdict
  }
  return passed
}

function wrongTask(task: unknown): string | undefined {
  if (!isObject(task)) return 'form'
  const texts = ['taskId', 'status', 'createdAt', 'lastUpdatedAt']
  const wrong = texts.find((key) => typeof task[key] !== 'string')
  return wrong ?? (task['ttl'] === null || typeof task['ttl'] === 'number' ? undefined : 'ttl')
}
