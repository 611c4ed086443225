import type { TaskDraft } from './host.ts'
import { newTaskId } from './id.ts'
import type { TaskRecord } from './record.ts'
import type { Run } from './run.ts'

/** The record of a task that `run` begins, with the text of its request. */
export function newRecord(
  run: Run,
  { caller, key, ttlMs, request: { same = '' } }: TaskDraft,
  request: string,
): TaskRecord {
  const { clock, gates, host, node, store } = run.tasks
  const now = clock.now()
  const most = host.limits.taskMs
  const wanted = ttlMs === undefined ? (run.plan?.ttlMs ?? most) : (ttlMs ?? most)
  return {
    id: store.newId?.() ?? newTaskId(),
    server: host.server,
    owner: caller.owner,
    scope: caller.scope,
    network: caller.network ?? '',
    tool: run.tool,
    key: caller.scope === '' ? '' : key,
    same,
    isShared: false,
    status: 'working',
    statusMessage: run.takeMessage()?.statusMessage ?? '',
    isError: false,
    createdAt: now,
    updatedAt: now,
    ttlMs: Math.min(Math.max(Math.round(wanted), 1), most),
    pollMs: run.plan?.pollMs ?? 1000,
    attempt: 1,
    dueAt: gates.dueAtOf(run, now),
    node,
    version: 1,
    request,
    state: run.stateText,
    outcome: '',
  }
}
