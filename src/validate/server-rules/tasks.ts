import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  D_ONLY,
  D_TO_E,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { inputOf } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { misfit } from '../tool-schema.ts'
import { textOf } from './refusal.ts'
import {
  cancelledTask,
  FINAL,
  hasTasks,
  lastOf,
  startedRuns,
  statesOf,
  taskRuns,
  taskTools,
  type TaskRun,
} from './task-runs.ts'

const RELATED = 'io.modelcontextprotocol/related-task'
const STATES = ['working', 'input_required', 'completed', 'failed', 'cancelled']

/** Rules about the tasks of 2025-11-25, and about the end of a task. */
export const TASK_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R240',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A call with "task" is answered with { task }, whose status is "working".',
    how: 'Calls the tools that support tasks with "task", and looks at the replies.',
    fix: 'Create the task with the status "working", and return { "task": { "taskId", "status", … } } at once.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const runs = await taskRuns(subject)
      if (runs.length === 0) return absent('no tool can run as a task')
      // A call with arguments that the tool does not like says nothing.
      const useful = runs.filter(
        ({ created: { result } }) => result !== undefined && result['isError'] !== true,
      )
      if (useful.length === 0) return unchecked(`no call became a task: ${textOf(runs[0]?.created.error)}`)
      const wrong = useful.map(({ tool, task, id }) => {
        const name = String(tool['name'])
        if (task === undefined) return `a call of ${name} with "task" is answered without one`
        if (id === '') return `the task of ${name} has no taskId`
        if (task['status'] === 'working') return undefined
        return `the new task of ${name} has the status ${JSON.stringify(task['status'])}`
      })
      return unless(wrong.find((found) => found !== undefined))
    },
  },
  {
    id: 'R241',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A task has one of the five states, and does not leave a final one.',
    how: 'Runs tools as tasks, and asks for their states until the end and twice more.',
    fix: 'Change a task only while it is "working" or "input_required".',
    calls: true,
    check: (subject) =>
      eachRun(subject, (run) => {
        const states = statesOf(run).map(({ status }) => status)
        const odd = states.find((state) => !STATES.includes(String(state)))
        if (odd !== undefined) return `a task has the status ${JSON.stringify(odd)}`
        const end = states.findIndex((state) => FINAL.has(state))
        const left = end < 0 ? undefined : states.slice(end).find((state) => state !== states[end])
        return left === undefined
          ? undefined
          : `a task was ${JSON.stringify(states[end])}, and is ${JSON.stringify(left)} afterwards`
      }),
  },
  {
    id: 'R242',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A task always has createdAt, lastUpdatedAt and ttl.',
    how: 'Runs tools as tasks, and looks at all their states.',
    fix: 'Return both times in ISO 8601, and ttl in milliseconds or null.',
    calls: true,
    check: (subject) =>
      eachRun(subject, (run) => {
        const states = [run.task, ...statesOf(run)].filter(isObject)
        const wrong = states.flatMap((state) => [
          ...['createdAt', 'lastUpdatedAt'].filter((key) => !isTime(state[key])),
          ...(state['ttl'] === null || typeof state['ttl'] === 'number' ? [] : ['ttl']),
        ])
        return wrong[0] && `a task has no proper ${[...new Set(wrong)].join(', ')}`
      }),
  },
  {
    id: 'R243',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'tasks/result waits for the end of the task, and returns what the call would, with the task in _meta.',
    how: 'Sends tasks/result as soon as the task exists, and looks at the result and at the state then.',
    fix: `Answer tasks/result when the task has ended, with _meta["${RELATED}"].`,
    calls: true,
    check: (subject) =>
      eachRun(subject, ({ id, outcome, after }) => {
        const status = after?.result?.['status']
        if (outcome?.message === undefined) return undefined
        if (status !== undefined && !FINAL.has(status))
          return `tasks/result is answered while the task is ${JSON.stringify(status)}`
        if (outcome.result === undefined) return undefined
        const related = member(outcome.result, '_meta', RELATED, 'taskId')
        return related === id
          ? undefined
          : `the result of tasks/result has the related task ${JSON.stringify(related)}`
      }),
  },
  {
    id: 'R244',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A task that has ended cannot be cancelled (-32602), and one that was cancelled stays so.',
    how: 'Cancels a task that has ended, and one that runs.',
    fix: 'Answer tasks/cancel with -32602 for final states, and drop what a cancelled task still returns.',
    calls: true,
    async check(subject) {
      if (member(await subject.capabilities(), 'tasks', 'cancel') === undefined)
        return absent('the server does not cancel tasks')
      const ended = (await startedRuns(subject)).find((run) => FINAL.has(lastOf(run)?.['status']))
      if (ended === undefined) return unchecked('no task came to its end')
      const again = await (await subject.shared()).request('tasks/cancel', { taskId: ended.id })
      if (again.error === undefined)
        return failed(again.problem ?? 'tasks/cancel of a task that has ended returns a result')
      if (again.error['code'] !== -32_602)
        return failed(
          `tasks/cancel of a task that has ended is answered with code ${String(again.error['code'])}`,
        )
      const cancelled = await cancelledTask(subject)
      // It may have ended before the cancellation came.
      if (cancelled?.cancelled.result === undefined) return passed
      const states = [cancelled.cancelled, ...cancelled.gets].map(({ result }) => result?.['status'])
      const other = states.find((state) => state !== undefined && state !== 'cancelled')
      return unless(other === undefined ? undefined : `a task that was cancelled is ${JSON.stringify(other)}`)
    },
  },
  {
    id: 'R246',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A call without "task" of a tool that requires it is answered with -32601.',
    how: 'Calls tools whose taskSupport is "required" without "task".',
    fix: 'Answer with -32601.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const [tool] = await taskTools(subject, ['required'])
      if (tool === undefined) return absent('no tool requires a task')
      const session = await subject.shared()
      const { error, result, problem } = await requestTool(session, [tool, inputOf(tool)])
      const what = result?.['isError'] === true ? 'a result with isError' : 'a result'
      if (error === undefined)
        return failed(problem ?? `a call of ${String(tool['name'])} without "task" returns ${what}`)
      // The specification says -32601 in one place, and allows -32600 in another.
      return unless(
        error['code'] === -32_601 || error['code'] === -32_600
          ? undefined
          : `a call of ${String(tool['name'])} without "task" is answered with code ${String(error['code'])}`,
      )
    },
  },
  {
    id: 'R247',
    level: 'must',
    revisions: D_ONLY,
    transports: TRANSPORTS,
    rule: 'A server that does not declare tasks ignores "task".',
    how: 'If the server declares no tasks, calls a tool with "task" that answered without it.',
    fix: 'Declare tasks.requests.tools.call, or answer the call as any other.',
    calls: true,
    async check(subject) {
      if (await hasTasks(subject)) return absent('the server runs tools as tasks')
      const { calls } = await subject.survey()
      const able = await taskTools(subject)
      const answered = calls.filter(({ reply }) => Array.isArray(reply.result?.['content']))
      const call = answered.find(({ tool }) => able.includes(tool)) ?? answered[0]
      if (call === undefined) return unchecked('no tool returned a result')
      const { tool, input } = call
      const asked = [tool, input, { task: { ttl: 60_000 } }] as const
      const { result, error, problem } = await requestTool(await subject.shared(), asked)
      if (result === undefined)
        return failed(problem ?? `a call with "task" is answered with an error: ${textOf(error)}`)
      return unless(
        Array.isArray(result['content']) ? undefined : 'a call with "task" is answered with a task',
      )
    },
  },
  {
    id: 'V240',
    level: 'must',
    revisions: D_TO_E,
    transports: TRANSPORTS,
    rule: 'A task comes to its end, and its result has the form of a result of its tool.',
    how: 'Runs tools as tasks, asks for their states until the end, and looks at the results.',
    fix: 'Keep the result as the tool returned it: content, structuredContent and isError.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const runs = await startedRuns(subject)
      if (runs.length === 0) return unchecked('no call became a task')
      let ended = 0
      for (const run of runs) {
        const last = lastOf(run)
        const name = String(run.tool['name'])
        if (last === undefined) return failed(`the task of ${name} cannot be read`)
        if (!FINAL.has(last['status'])) continue
        ended++
        const result = subject.isModern ? last['result'] : run.outcome?.result
        const found = await misshapen(run.tool, result, last['status'])
        if (found !== undefined) return failed(`the result of the task of ${name} ${found}`)
      }
      return ended > 0 ? passed : unchecked('no task came to its end in time')
    },
  },
]

const NO_TASKS: Verdict = absent('the server does not run tools as tasks')

/** Fails with the first run that something is wrong with. */
export async function eachRun(
  subject: ServerSubject,
  wrong: (run: TaskRun) => string | undefined,
): Promise<Verdict> {
  if (!(await hasTasks(subject))) return NO_TASKS
  const runs = await startedRuns(subject)
  if (runs.length === 0) return unchecked('no call became a task')
  for (const run of runs) {
    const found = wrong(run)
    if (found !== undefined) return failed(found, subject.trace.between(run.from - 2, run.to))
  }
  return passed
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
}

/** What is wrong with the result of a task. */
async function misshapen(tool: Message, result: unknown, status: unknown): Promise<string | undefined> {
  if (result === undefined)
    return status === 'completed' ? 'is missing, though the task is completed' : undefined
  if (!isObject(result) || !Array.isArray(result['content'])) return 'has no content'
  const schema = tool['outputSchema']
  if (!isObject(schema) || result['isError'] === true) return undefined
  const issue = await misfit(schema, result['structuredContent'])
  return issue && `does not fit its outputSchema: ${issue}`
}
