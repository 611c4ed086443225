import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Session } from '../rpc/session.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { SendOfTask } from '../tasks/link.ts'
import { toTask } from './task-shape.ts'

/** The `_meta` that relates a message to a task. */
export function related(id: string, meta?: unknown): JsonObject {
  return { ...(meta as JsonObject | undefined), [META.relatedTask]: { taskId: id } }
}

/** Sends notifications of a task to the session that started it; those of progress with the token of the first request. */
export function sendOfTask(session: Session): SendOfTask {
  return (method, params, id) => {
    if (!session.closed) session.notify(method, { ...params, _meta: related(id, params['_meta']) })
  }
}

/** Tells the session that started a task of each change of its status. */
export function tellStatus(session: Session): (head: TaskHead) => void {
  return (head) => {
    if (!session.closed) session.notify('notifications/tasks/status', toTask(head, session))
  }
}
