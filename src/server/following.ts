import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Changes } from '../rpc/changes.ts'
import type { Session } from '../rpc/session.ts'
import { callOf, type Context } from './context.ts'

/** One object, so that its text is cached. */
export const NO_PARAMS: JsonObject = Object.freeze({})

/** The notification for each kind of change, and the filter that requests it. */
export const NOTICES = {
  tools: { method: 'notifications/tools/list_changed', filter: 'toolsListChanged' },
  prompts: { method: 'notifications/prompts/list_changed', filter: 'promptsListChanged' },
  resources: { method: 'notifications/resources/list_changed', filter: 'resourcesListChanged' },
} as const

/** Notifies a session when a list it was offered changes. Changes that happen before the client is ready are sent once it is. */
export function follow(changes: Changes, session: Session, offered: JsonObject): void {
  if (!hearsChanges(session)) return
  const stop = changes.listen((change) => {
    const { position } = change
    if (change.kind === 'extension') return change.tell(session, position)
    if ((offered[change.kind] as JsonObject | undefined)?.['listChanged'] !== true) return
    const { method } = NOTICES[change.kind]
    session.whenReady(() => session.notify(method, NO_PARAMS, position), method)
  })
  session.onClose(stop)
}

/** Whether changes are reported to the session as a whole, and not to requests. */
export function hearsChanges({ dialect }: Session): boolean {
  return dialect.changes === 'session'
}

/** `notifications/initialized` */
export function initialized(context: Context): void {
  callOf(context).peer.session?.setReady()
}
