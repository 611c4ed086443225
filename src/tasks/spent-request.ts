import type { TaskHead, TaskRequest } from './record.ts'
import type { Run } from './run.ts'
import type { Soon, TaskChange, TaskStore } from './store.ts'
import { soon } from '../base/soon.ts'

/** Requests up to this length stay in the record after the end of a task, for operators. */
const LONG_CHARS = 4096

type Spent = Pick<TaskChange, 'request'>

/** A request whose text is long; undefined if it is not. */
export function longRequest(request: TaskRequest, text: string): TaskRequest | undefined {
  return text.length > LONG_CHARS ? request : undefined
}

/** What replaces the request of a task that has completed, and never runs again: nothing reads its arguments, and calls with the same key are compared by `same`. */
export function spentRequest({ longRequest: long }: Run): Spent {
  if (long === undefined) return {}
  const { same, revision, params, client } = long
  const short: TaskRequest = {
    same,
    revision,
    params: { name: params['name'] },
    client,
    capabilities: {},
    auth: undefined,
    ip: undefined,
  }
  return { request: JSON.stringify(short) }
}

/** The same for one that is cancelled, which nobody finds by its key, wherever it runs. */
export function cancelledRequest(store: TaskStore, { id }: TaskHead, run: Run | undefined): Soon<Spent> {
  if (run !== undefined) return run.longRequest === undefined ? {} : { request: '' }
  return soon(store.read(id, 'request', 0), (found) =>
    found !== undefined && found.bytes > 2 * LONG_CHARS ? { request: '' } : {},
  )
}
