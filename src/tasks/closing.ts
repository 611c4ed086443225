import { mcpError } from '../errors/error.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import { TASK_LOST } from '../errors/tasks.ts'
import type { Run } from './run.ts'
import type { TaskRunner } from './runner.ts'

/** Waits up to `drainMs` until tasks have ended, then gives up the rest: they are tried again elsewhere, or fail. */
export async function closeTasks(tasks: TaskRunner, drainMs: number): Promise<void> {
  try {
    // Nobody answers any more.
    for (const run of tasks.runs.values())
      if (run.head?.status === 'input_required') tasks.unawaited(() => giveUp(tasks, run))
    if (drainMs > 0) await tasks.idle(drainMs)
    // All at once, so that a store that is locked is waited for once.
    await Promise.all([giveUpAll(tasks), tasks.upkeep.halt()])
    // What the last look at the store has begun.
    await giveUpAll(tasks)
  } finally {
    await tasks.upkeep.stop().catch((error: unknown) => tasks.reportFailure(error))
  }
}

async function giveUpAll(tasks: TaskRunner): Promise<void> {
  const runs = [...tasks.runs.values()]
  // Before the first of those that run makes room for another one.
  for (const run of runs) withhold(run)
  await Promise.all(runs.map((run) => giveUp(tasks, run)))
}

/** Keeps a handler that has not begun from doing so. */
function withhold(run: Run): void {
  if (run.hasBegun) return
  run.isWithheld = true
  run.leaveGate?.()
}

/** Gives up a task because the server closes. */
export async function giveUp(tasks: TaskRunner, run: Run): Promise<void> {
  const why = mcpError(SHUTTING_DOWN, {})
  try {
    const unwritten = tasks.upkeep.takeUnwritten(run)
    if (unwritten !== undefined) await tasks.upkeep.insist(run, unwritten)
    else if (!run.hasBegun) await tasks.giveBack(run)
    else if (run.plan?.onRestart === 'retry') await tasks.release(run, { why })
    else await tasks.finish(run, { error: mcpError(TASK_LOST, { attempt: run.attempt }) }, { why })
  } catch (error) {
    tasks.reportFailure(error)
  } finally {
    // Also if the store did not take it.
    tasks.leave(run, why)
  }
}
