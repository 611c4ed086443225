import { hasShare, isWithinAddressShare } from '../base/share.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { TASKS_TOO_LARGE } from '../errors/tasks.ts'
import type { TaskHead } from './record.ts'
import type { Rejected, TaskRoom, TaskSums } from './store.ts'

/** The bytes that a task takes besides its texts. */
export const TASK_OVERHEAD = 512

/** Those who share limits with a task. */
type Holder = Pick<TaskHead, 'scope' | 'network'>

/** Why a store that keeps so much has no room for a new task of so many bytes; undefined if it has. */
export function rejectionOf(
  holder: Holder,
  bytes: number,
  sums: TaskSums,
  room: TaskRoom,
): Rejected | undefined {
  const { all, scope, network } = sums
  if (all.tasks >= room.tasks) return { outcome: 'full', limit: room.tasks }
  if (holder.scope !== '' && scope.tasks >= room.callerTasks)
    return { outcome: 'caller_full', limit: room.callerTasks }
  if (holder.network !== '' && !isWithinAddressShare(network.tasks + 1, all.tasks + 1, room.tasks))
    return { outcome: 'caller_full', limit: network.tasks }
  return hasBytes(holder, bytes, sums, room) ? undefined : { outcome: 'too_large', limit: room.taskBytes }
}

/** Whether a store that keeps so much has room for so many more bytes of a task. */
export function hasBytes(
  { scope, network }: Holder,
  more: number,
  sums: TaskSums,
  { taskBytes }: TaskRoom,
): boolean {
  const near = network === '' ? 0 : sums.network.bytes
  const own = scope === '' ? near : sums.scope.bytes
  const total = sums.all.bytes + more
  return hasShare({ own: own + more, near: (near || own) + more, total }, taskBytes)
}

/** The error of a change whose texts have no room. */
export function tasksTooLarge({ taskBytes }: Pick<TaskRoom, 'taskBytes'>): McpError {
  return mcpError(TASKS_TOO_LARGE, { limit: taskBytes }, MUCH_LATER)
}

/** Whether an error says that there is no room. */
export function isTooLarge(error: unknown): error is McpError {
  return (error as Partial<McpError> | undefined)?.kind === TASKS_TOO_LARGE.kind
}
