import type { ClientSubject } from '../client-subject.ts'
import type { Offer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { encodedHeader } from '../header-value.ts'
import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  D_ONLY,
  E_ONLY,
  passed,
  TRANSPORTS,
  unchecked,
  type Rule,
  type Transport,
  type Verdict,
} from '../rule.ts'
import { stepsOf, TASK_QUESTIONS, type TaskSteps } from './task-questions.ts'
import { broken, shown } from './verdicts.ts'

const HTTP: readonly Transport[] = ['http']
const EXTENSION = 'io.modelcontextprotocol/tasks'
const RELATED = 'io.modelcontextprotocol/related-task'
const TERMINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])
const STATUSES: ReadonlySet<unknown> = new Set(['working', 'input_required', ...TERMINAL])

const COMMON = { level: 'must', revisions: D_ONLY, transports: TRANSPORTS } as const

/** Rules about tasks: questions that the client answers as tasks at 2025-11-25, and calls that become tasks at 2026-07-28. */
export const CLIENT_TASK_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R240',
    ...COMMON,
    rule: 'A question with "task" is answered with a task that is working.',
    how: 'Asks a question as a task, if the client declares tasks for it.',
    fix: 'Answer with { task }, whose status is "working", and work on the question afterwards.',
    check: (subject) =>
      withTasks(subject, ({ created }) => {
        const task = member(created, 'result', 'task')
        if (typeof member(task, 'taskId') !== 'string') return `there is no task: ${shown(created)}`
        const status = member(task, 'status')
        return status === 'working' ? undefined : `a new task is ${shown(status)}`
      }),
  },
  {
    id: 'R241',
    ...COMMON,
    rule: 'A task has one of the five states, and does not leave its last one.',
    how: 'Follows a task, and asks for its state again after its end.',
    fix: 'Use working, input_required, completed, failed and cancelled, and never change the last three.',
    check: (subject) =>
      withTasks(subject, ({ created, first, after, afterCancel }) => {
        const states = [
          member(created, 'result', 'task', 'status'),
          ...[first, after, afterCancel].map(stateOf),
        ]
        const known = states.filter((state) => state !== undefined)
        const odd = known.find((state) => !STATUSES.has(state))
        if (odd !== undefined) return `a task is ${shown(odd)}`
        const end = known.findIndex((state) => TERMINAL.has(state))
        const later = end < 0 ? undefined : known.slice(end).find((state) => state !== known[end])
        return later === undefined
          ? undefined
          : `a task was ${shown(known[end])}, and is ${shown(later)} later`
      }),
  },
  {
    id: 'R242',
    ...COMMON,
    rule: 'A task has createdAt, lastUpdatedAt and ttl.',
    how: 'Looks at a new task, and at its state later.',
    fix: 'Send createdAt, lastUpdatedAt and ttl with each state of a task; ttl may be null.',
    check: (subject) =>
      withTasks(subject, ({ created, first, after }) => {
        const tasks = [member(created, 'result', 'task'), member(first, 'result'), member(after, 'result')]
        for (const task of tasks.filter(isObject)) {
          const missing = ['createdAt', 'lastUpdatedAt', 'ttl'].find((key) => !Object.hasOwn(task, key))
          if (missing !== undefined) return `a task has no ${missing}: ${shown(task)}`
        }
        return undefined
      }),
  },
  {
    id: 'R243',
    ...COMMON,
    rule: 'tasks/result waits for the end of the task, and returns the answer with the id of the task in _meta.',
    how: 'Sends tasks/result at once, and looks at the answer and the state of the task afterwards.',
    fix: `Answer tasks/result when the task has ended, with the usual answer and _meta["${RELATED}"].`,
    check: (subject) =>
      withTasks(subject, ({ method, created, outcome, after }) => {
        if (outcome === undefined) return undefined
        if (stateOf(after) !== undefined && !TERMINAL.has(stateOf(after)))
          return `tasks/result was answered, and the task is still ${shown(stateOf(after))}`
        const result = member(outcome, 'result')
        const usual = method === 'elicitation/create' ? 'action' : 'role'
        if (member(result, usual) === undefined)
          return stateOf(after) === 'completed'
            ? `the result is ${shown(result)}, without ${usual}`
            : undefined
        const [related, taskId] = [
          member(result, '_meta', RELATED, 'taskId'),
          member(created, 'result', 'task', 'taskId'),
        ]
        return related === taskId ? undefined : `the task in _meta is ${shown(related)}, not ${shown(taskId)}`
      }),
  },
  {
    id: 'R244',
    ...COMMON,
    rule: 'A task that has ended cannot be cancelled (-32602), and a cancelled one stays so.',
    how: 'Cancels a task after its end, and another at its beginning.',
    fix: 'Answer tasks/cancel with the error -32602 after the end, and keep the state "cancelled".',
    check: (subject) =>
      withTasks(subject, ({ after, lateCancel, cancelled, stays }) => {
        const code = member(lateCancel, 'error', 'code')
        if (TERMINAL.has(stateOf(after)) && lateCancel !== undefined && code !== -32_602)
          return `tasks/cancel after the end is answered with ${shown(code ?? member(lateCancel, 'result'))}`
        const [then, later] = [stateOf(cancelled), stateOf(stays)]
        return then === undefined || later === undefined || (then === 'cancelled' && later === 'cancelled')
          ? undefined
          : `the cancelled task is ${shown(then)}, and later ${shown(later)}`
      }),
  },
  {
    id: 'R247',
    ...COMMON,
    rule: 'A client without tasks ignores "task" in a question.',
    how: 'Asks a question as a task, if the client does not declare tasks for it.',
    fix: 'Answer as if the question had no "task".',
    async check(subject) {
      const visit = await subject.visit(TASK_QUESTIONS)
      const found = stepsOf(visit)
      if (found === undefined) return unchecked('there is no question that the client answers')
      if (found.isDeclared) return absent('the client declares tasks')
      const { method, created } = found
      if (created === undefined) return unchecked(`the client does not answer ${method}`)
      const usual = method === 'elicitation/create' ? 'action' : 'role'
      return member(created, 'result', usual) !== undefined
        ? passed
        : broken(visit, answered(visit, method), `the client answers with ${shown(created)}`)
    },
  },
  {
    id: 'R259',
    level: 'must',
    revisions: E_ONLY,
    transports: HTTP,
    rule: 'Requests about a task have its id in Mcp-Name.',
    how: 'Makes a call a task, if the client declares the extension, and looks at the headers.',
    fix: 'Send Mcp-Name with params.taskId for tasks/get, tasks/update and tasks/cancel.',
    async check(subject) {
      const visit = await subject.visit(EXTENSION_TASK)
      const calls = visit.ownRequests('tools/call')
      if (calls.length === 0) return unchecked('the client calls no tool')
      if (!visit.notes.has('task')) return absent('the client does not declare the extension for tasks')
      const about = ['tasks/get', 'tasks/update', 'tasks/cancel'].flatMap((method) =>
        visit.ownRequests(method),
      )
      const wrong = about.find(
        ({ message, seen }) =>
          seen.http?.headers['mcp-name'] !== encodedHeader(String(member(message, 'params', 'taskId'))),
      )
      if (wrong !== undefined)
        return broken(visit, wrong.seen, `Mcp-Name is ${shown(wrong.seen.http?.headers['mcp-name'])}`)
      return about.length > 0 ? passed : unchecked('the client does not ask for the state of the task')
    },
  },
]

function stateOf(response: Message | undefined): unknown {
  return member(response, 'result', 'status')
}

function answered(visit: Visit, method: string): { readonly at: number } | undefined {
  const asked = visit.asked.find((one) => one.method === method)
  return asked?.answers[0]?.seen ?? asked
}

/** Looks at the tasks of a client that declares them. */
async function withTasks(
  subject: ClientSubject,
  wrong: (steps: TaskSteps) => string | undefined,
): Promise<Verdict> {
  const visit = await subject.visit(TASK_QUESTIONS)
  const found = stepsOf(visit)
  if (found === undefined) return unchecked('there is no question that the client answers')
  if (!found.isDeclared) return absent('the client declares no tasks')
  if (found.created === undefined) return unchecked(`the client does not answer ${found.method}`)
  const what = wrong(found)
  if (what !== undefined) return broken(visit, answered(visit, found.method), what)
  return found.after === undefined ? unchecked('the client does not answer requests about tasks') : passed
}

const TASK_ID = 'validator-task-1'

function taskNow(): Message {
  const now = new Date().toISOString()
  return { taskId: TASK_ID, createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 20 }
}

const EXTENSION_TASK: Scenario = {
  name: 'extension-task',
  does: 'makes the first call of a tool a task',
  revisions: E_ONLY,
  transports: HTTP,
  begin: () => ({
    offer: (offer: Offer): Offer => ({
      ...offer,
      capabilities: { ...offer.capabilities, extensions: { [EXTENSION]: {} } },
    }),
    async message(turn) {
      const { notes } = turn.visit
      const isDeclared = member(turn.capabilities, 'extensions', EXTENSION) !== undefined
      if (turn.method === 'tools/call' && isDeclared && !notes.has('task')) {
        notes.set('task', true)
        await turn.reply({ resultType: 'task', status: 'working', ...taskNow() })
      } else if (turn.method === 'tasks/get')
        await turn.reply({
          status: 'completed',
          ...taskNow(),
          result: { content: [{ type: 'text', text: 'done' }], resultType: 'complete' },
        })
      else if (turn.method === 'tasks/update' || turn.method === 'tasks/cancel') await turn.reply({})
      else return false
      return true
    },
  }),
}
