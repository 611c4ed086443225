import { isDeepStrictEqual } from 'node:util'
import { isObject, member, type Message } from '../message.ts'
import {
  absent,
  E_ONLY,
  failed,
  passed,
  TRANSPORTS,
  unchecked,
  unless,
  type Rule,
  type Verdict,
} from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Reply } from '../session.ts'
import { inputOf } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { refusal, textOf } from './refusal.ts'
import {
  cancelledTask,
  hasTasks,
  lastOf,
  startedRuns,
  taskRuns,
  withTasks,
  type TaskRun,
} from './task-runs.ts'
import { eachRun } from './tasks.ts'

/** Rules about the extension for tasks, at 2026-07-28. */
export const TASK_EXTENSION_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R250',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A client that did not declare the extension on a call gets no task.',
    how: 'Calls every tool without the extension, and those that became tasks with the old capability only.',
    fix: 'Look for the extension in the capabilities of the request; answer with the result, or with -32021.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const { calls } = await subject.survey()
      const early = calls.find(({ reply }) => reply.result?.['resultType'] === 'task')
      if (early !== undefined)
        return failed(`a call of ${String(early.tool['name'])} without the extension becomes a task`)
      for (const { tool } of await startedRuns(subject)) {
        const { result } = await callOldWay(subject, tool)
        if (result?.['resultType'] === 'task')
          return failed(`a call of ${String(tool['name'])} with the old capability becomes a task`)
      }
      return calls.length > 0 ? passed : unchecked('no tool was called')
    },
  },
  {
    id: 'R251',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'The resultType is "task" only when a task is created, and "complete" in answers to tasks/get, update and cancel.',
    how: 'Runs tools as tasks, cancels one, and looks at all results.',
    fix: 'Return "resultType": "complete" from tasks/get, tasks/update and tasks/cancel.',
    calls: true,
    async check(subject) {
      const cancelled = await cancelledTask(subject)
      return eachRun(subject, ({ gets, updates }) => {
        const replies = [...gets, ...updates.map(({ reply }) => reply), cancelled?.cancelled]
        const wrong = replies.find(
          (reply) => reply?.result !== undefined && reply.result['resultType'] !== 'complete',
        )
        return wrong && `a result has the resultType ${JSON.stringify(wrong.result?.['resultType'])}`
      })
    },
  },
  {
    id: 'R252',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A task can be read as soon as its creation is answered.',
    how: 'Sends tasks/get at once after the reply.',
    fix: 'Store the task before you answer.',
    calls: true,
    check: (subject) =>
      eachRun(subject, ({ gets: [first], id }) => {
        if (first?.result === undefined)
          return `tasks/get is answered with ${first?.problem ?? `an error: ${textOf(first?.error)}`}`
        return first.result['taskId'] === id
          ? undefined
          : `tasks/get returns the task ${JSON.stringify(first.result['taskId'])}`
      }),
  },
  {
    id: 'R253',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A task has inputRequests while it asks, a result when it is completed, and an error when it failed.',
    how: 'Runs tools as tasks, and looks at all their states.',
    fix: 'Return inputRequests, result or error with the state that it belongs to.',
    calls: true,
    check: (subject) =>
      eachRun(subject, ({ gets }) => {
        for (const { result } of gets) {
          const wrong = result && missingPart(result)
          if (wrong !== undefined) return `a task is ${String(result?.['status'])}, and has no ${wrong}`
        }
        return undefined
      }),
  },
  {
    id: 'R254',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A result with isError completes its task; a task that failed has a JSON-RPC error.',
    how: 'Runs tools as tasks, and looks at those that ended badly.',
    fix: 'Set "failed" only with "error": { code, message }, and "completed" for every result of the tool.',
    calls: true,
    async check(subject) {
      const bad = (run: TaskRun): boolean =>
        member(lastOf(run), 'result', 'isError') === true || lastOf(run)?.['status'] === 'failed'
      if ((await hasTasks(subject)) && !(await startedRuns(subject)).some(bad))
        return unchecked('no task ended with an error')
      return eachRun(subject, (run) => {
        const last = lastOf(run)
        if (last?.['status'] !== 'failed') return undefined
        if (last['result'] !== undefined) return 'a task with a result failed'
        return Number.isInteger(member(last, 'error', 'code')) &&
          typeof member(last, 'error', 'message') === 'string'
          ? undefined
          : `a task failed with the error ${JSON.stringify(last['error'])}`
      })
    },
  },
  {
    id: 'R255',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'The questions of a task never share a key, and answers that nobody asked for are ignored.',
    how: 'Answers the questions of tasks, with one answer too many, and compares the keys.',
    fix: 'Count the questions of a task for their keys, and look only at answers to open questions.',
    calls: true,
    async check(subject) {
      const asking = ({ gets }: TaskRun): boolean => gets.some(({ result }) => questionsIn(result).length > 0)
      if ((await hasTasks(subject)) && !(await startedRuns(subject)).some(asking))
        return unchecked('no task asked a question')
      return eachRun(subject, ({ gets, updates }) => {
        const refused = updates.find(({ hasUnknown, reply }) => hasUnknown && reply.error !== undefined)
        const isOurs = updates.some(({ hasUnknown, reply }) => !hasUnknown && reply.error === undefined)
        if (refused !== undefined && isOurs)
          return `an answer that nobody asked for is refused: ${textOf(refused.reply.error)}`
        return reusedKey(gets)
      })
    },
  },
  {
    id: 'R256',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'tasks/update and tasks/cancel are acknowledged with an empty result.',
    how: 'Answers the questions of tasks, cancels one, and looks at the results.',
    fix: 'Return { "resultType": "complete" }; clients read the state with tasks/get.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const updates = (await startedRuns(subject)).flatMap((run) => run.updates.map(({ reply }) => reply))
      const cancelled = (await cancelledTask(subject))?.cancelled
      const acks = [...updates, cancelled].flatMap((reply) => (reply?.result ? [reply.result] : []))
      if (acks.length === 0) return unchecked('no task was answered or cancelled')
      const more = acks
        .flatMap((ack) => Object.keys(ack))
        .filter((key) => key !== 'resultType' && key !== '_meta')
      return unless(more.length === 0 ? undefined : `an acknowledgement has ${[...new Set(more)].join(', ')}`)
    },
  },
  {
    id: 'R257',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A client that does not declare the extension is refused with -32021 by tasks/get, update and cancel, and follows no tasks.',
    how: 'Sends them, and subscriptions/listen with the id of a task, without the extension.',
    fix: 'Look for the extension in the capabilities of each request; answer with -32021.',
    calls: true,
    async check(subject) {
      const [run] = await startedRuns(subject)
      if (run === undefined) return noRun(subject)
      const session = await subject.session()
      for (const [method, params] of [
        ['tasks/get', {}],
        ['tasks/update', { inputResponses: {} }],
        ['tasks/cancel', {}],
      ] as const) {
        const reply = await session.request(method, { taskId: run.id, ...params })
        const verdict = refusal(subject, reply, {
          code: -32_021,
          status: 400,
          what: `${method} without the extension`,
        })
        if (verdict.is !== 'passed') return verdict
      }
      return unless(
        (await isFollowed(subject, run.id))
          ? 'subscriptions/listen without the extension follows a task'
          : undefined,
      )
    },
  },
  {
    id: 'R258',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'tasks/result is an unknown method (-32601), and the old parameter "task" is ignored.',
    how: 'Sends tasks/result, and calls with "task" a tool that answered without it.',
    fix: 'Remove what belongs to the tasks of 2025-11-25 from this revision.',
    calls: true,
    async check(subject) {
      const [run] = await startedRuns(subject)
      if (run === undefined) return noRun(subject)
      const session = await subject.shared()
      const reply = await session.request(
        'tasks/result',
        { taskId: run.id },
        { capabilities: withTasks(session) },
      )
      const verdict = refusal(subject, reply, { code: -32_601, status: 404, what: 'tasks/result' })
      if (verdict.is !== 'passed') return verdict
      const { calls } = await subject.survey()
      const call = calls.find(({ reply: { result } }) => Array.isArray(result?.['content']))
      if (call === undefined) return passed
      const { result, error, problem } = await callOldWay(subject, call.tool)
      return unless(
        Array.isArray(result?.['content'])
          ? undefined
          : `a call with "task" is answered with ${problem ?? (error ? textOf(error) : 'a task')}`,
      )
    },
  },
  {
    id: 'R259',
    level: 'must',
    revisions: E_ONLY,
    transports: ['http'],
    rule: 'Mcp-Name has the id of the task; another one is refused with status 400 and -32020.',
    how: 'Sends tasks/get with the name of another task.',
    fix: 'Compare Mcp-Name with params.taskId for tasks/get, tasks/update and tasks/cancel.',
    calls: true,
    async check(subject) {
      const [run] = await startedRuns(subject)
      if (run === undefined) return noRun(subject)
      const session = await subject.shared()
      const reply = await session.request(
        'tasks/get',
        { taskId: run.id },
        { capabilities: withTasks(session), headers: { 'mcp-name': 'another' } },
      )
      return refusal(subject, reply, {
        code: -32_020,
        status: 400,
        what: 'tasks/get with another Mcp-Name',
      })
    },
  },
  {
    id: 'R260',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A task sends no progress and no log messages.',
    how: 'Runs tools as tasks on calls with a token and a level, and looks at what comes after the task exists.',
    fix: 'Tell progress in statusMessage, and end both kinds of notifications with the reply to the call.',
    calls: true,
    async check(subject) {
      if (!(await hasTasks(subject))) return NO_TASKS
      const runs = await startedRuns(subject)
      if (runs.length === 0) return unchecked('no call became a task')
      const session = await subject.forCalls()
      // Calls that became no task may send both until they are answered.
      const last = Math.max(...(await taskRuns(subject)).map(({ from }) => from))
      const to = Math.max(...runs.map((run) => run.to))
      const wrong = session.wire.received
        .filter(({ at }) => at >= last && at < to)
        .flatMap(({ messages }) => messages)
        .find(({ method }) => method === 'notifications/progress' || method === 'notifications/message')
      return unless(wrong && `${String(wrong['method'])} came from a task`)
    },
  },
]

const NO_TASKS: Verdict = absent('the server does not run tools as tasks')

async function noRun(subject: ServerSubject): Promise<Verdict> {
  return (await hasTasks(subject)) ? unchecked('no call became a task') : NO_TASKS
}

/** Calls a tool as a client of 2025-11-25 asks for a task. */
async function callOldWay(subject: ServerSubject, tool: Message): Promise<Reply> {
  const session = await subject.shared()
  return requestTool(session, [tool, inputOf(tool), { task: { ttl: 60_000 } }], {
    capabilities: { ...session.capabilities, tasks: { list: {}, cancel: {} } },
  })
}

function missingPart(state: Message): string | undefined {
  if (state['status'] === 'completed' && !isObject(state['result'])) return 'result'
  if (state['status'] === 'failed' && !isObject(state['error'])) return 'error'
  if (state['status'] === 'input_required' && questionsIn(state).length === 0) return 'inputRequests'
  return undefined
}

function questionsIn(state: Message | undefined): readonly (readonly [string, unknown])[] {
  const asked = state?.['inputRequests']
  return isObject(asked) ? Object.entries(asked) : []
}

/** Whether a key stands for two questions, or for one that was gone. */
function reusedKey(gets: readonly Reply[]): string | undefined {
  const known = new Map<string, { question: unknown; isGone: boolean }>()
  for (const { result } of gets) {
    const asked = new Map(questionsIn(result))
    for (const [key, question] of asked) {
      const before = known.get(key)
      if (before !== undefined && (before.isGone || !isDeepStrictEqual(before.question, question)))
        return `two questions of a task have the key ${JSON.stringify(key)}`
      known.set(key, { question, isGone: false })
    }
    for (const [key, one] of known) if (!asked.has(key)) one.isGone = true
  }
  return undefined
}

/** Whether a client without the extension may follow a task. */
async function isFollowed(subject: ServerSubject, taskId: string): Promise<boolean> {
  const session = await subject.session()
  const message = session.requestOf('subscriptions/listen', { notifications: { taskIds: [taskId] } })
  const from = subject.trace.mark
  await session.wire.send(JSON.stringify(message), { headers: session.headersOf(message) })
  const first = await session.wire.wait(() => true, { from, ms: Math.min(subject.ms, 1_000) })
  const ids = member(first?.messages[0], 'params', 'notifications', 'taskIds')
  return Array.isArray(ids) && ids.includes(taskId)
}
