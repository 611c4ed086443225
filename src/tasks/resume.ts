import { soon } from '../base/soon.ts'
import { textBytes } from '../base/weight.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TASK_CRASHED, TASK_LOST } from '../errors/tasks.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { AttemptState } from './attempt-state.ts'
import { bytesOf, requestBytesOf, storedHolder, type TaskHolder } from './bytes.ts'
import type { Claimed } from './claimed.ts'
import type { TaskPlan } from './plan.ts'
import type { TaskHead, TaskRecord } from './record.ts'
import { Run } from './run.ts'
import type { TaskRunner } from './runner.ts'
import { longRequest } from './spent-request.ts'
import type { Soon } from './store.ts'

/** How often the process of a task may end without notice while the task works, and keeps nothing new, before the task fails. */
const MOST_CRASHES = 10

/** Runs a task that this node has claimed, or ends it. */
export function resumeTask(
  tasks: TaskRunner,
  { record, request, shared }: Claimed,
  holder: TaskHolder,
): void {
  const run = new Run(tasks, record.tool, tasks.host.planOf(record.tool))
  run.load(record, shared)
  run.link = tasks.links.take(record.id)
  run.holder = holder
  run.requestBytes = textBytes(record.request)
  run.longRequest = longRequest(request, record.request)
  run.givenBytes = requestBytesOf(request, run.requestBytes)
  tasks.enter(run, bytesOf(run.requestBytes, record.state))
  // A task that waited has a time; one whose node died has none.
  const isDue = record.dueAt > 0
  const error = isDue ? undefined : errorOfCrash(run.plan, run.shared, record)
  if (error !== undefined) return tasks.unawaited(() => tasks.finish(run, { error }))
  const attempt = isDue ? record.attempt : record.attempt + 1
  const work = async (): Promise<Result> => tasks.host.attempt(run, request)
  const begin = (): Soon<void> =>
    soon(
      run.write('attempt', () => ({ attempt, dueAt: 0, state: run.stateText }), true),
      (isWritten) => {
        if (!isWritten) return undefined
        return tasks.isClosing ? tasks.giveBack(run) : tasks.settle(run, work())
      },
    )
  tasks.unawaited(() => tasks.upkeep.insist(run, begin))
}

/** Puts back a claimed task that has no room here until a time, so that others go on, and answers its head; or ends it, which needs no room. */
export function postponeTask(tasks: TaskRunner, claimed: Claimed, dueAt: number): Soon<TaskHead | undefined> {
  const { record, shared } = claimed
  const { id, version, tool } = record
  const change = { node: '', dueAt }
  if (record.dueAt > 0) return tasks.store.change(id, version, change)
  // A task with a time has not crashed, so that this one counts its crash now.
  const error = errorOfCrash(tasks.host.planOf(tool), shared, record)
  if (error !== undefined) {
    resumeTask(tasks, claimed, storedHolder(record))
    return undefined
  }
  return tasks.store.change(id, version, { ...change, attempt: record.attempt + 1, state: shared.text })
}

/** Counts a crash; the error if the task does not begin again. */
function errorOfCrash(
  plan: TaskPlan | undefined,
  shared: AttemptState,
  { attempt, status }: TaskRecord,
): McpError | undefined {
  if (plan?.onRestart !== 'retry') return mcpError(TASK_LOST, { attempt })
  // A handler that waits for an answer is not what ended its process.
  if (status === 'input_required') return undefined
  const times = ++shared.crashes
  return times < MOST_CRASHES ? undefined : mcpError(TASK_CRASHED, { times })
}
