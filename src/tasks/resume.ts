import { soon } from '../base/soon.ts'
import { textBytes } from '../base/weight.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TASK_CRASHED, TASK_LOST } from '../errors/tasks.ts'
import type { Result } from '../rpc/dispatch.ts'
import { bytesOf, holderOf } from './bytes.ts'
import type { TaskRecord, TaskRequest } from './record.ts'
import { Run } from './run.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

/** How often the process of a task may end without notice while the task works, and keeps nothing new, before the task fails. */
const MOST_CRASHES = 10

/** Runs a task that this node has claimed, or ends it. */
export function resumeTask(tasks: TaskRunner, record: TaskRecord): void {
  const run = new Run(tasks, record.tool, tasks.host.planOf(record.tool))
  run.load(record)
  run.link = tasks.links.take(record.id)
  run.holder = holderOf(record)
  run.requestBytes = textBytes(record.request)
  tasks.runs.set(record.id, run)
  tasks.bytes.force(record.id, run.holder, bytesOf(run.requestBytes, record.state))
  // A task that waited has a time; one whose node died has none.
  const isDue = record.dueAt > 0
  const error = isDue ? undefined : errorOfCrash(run, record)
  if (error !== undefined) return tasks.unawaited(() => tasks.finish(run, { error }))
  const attempt = isDue ? record.attempt : record.attempt + 1
  const work = async (): Promise<Result> => tasks.host.attempt(run, JSON.parse(record.request) as TaskRequest)
  const begin = (): Soon<void> =>
    soon(
      run.write('attempt', () => ({ attempt, dueAt: 0, state: run.stateText })),
      (isWritten) => {
        if (!isWritten) return undefined
        return tasks.isClosing ? tasks.giveBack(run) : tasks.settle(run, work())
      },
    )
  tasks.unawaited(() => tasks.upkeep.insist(run, begin))
}

/** Counts a crash; the error if the task does not begin again. */
function errorOfCrash(run: Run, { attempt, status }: TaskRecord): McpError | undefined {
  if (run.plan?.onRestart !== 'retry') return mcpError(TASK_LOST, { attempt })
  // A handler that waits for an answer is not what ended its process.
  if (status === 'input_required') return undefined
  const times = ++run.shared.crashes
  return times < MOST_CRASHES ? undefined : mcpError(TASK_CRASHED, { times })
}
