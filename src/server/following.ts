import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Changes, ResourceChange } from '../rpc/changes.ts'
import type { Session } from '../rpc/session.ts'
import { callOf, type Context } from './context.ts'

/** The notification for each kind of change, and the filter that requests it. */
export const NOTICES = {
  tools: { method: 'notifications/tools/list_changed', filter: 'toolsListChanged' },
  prompts: { method: 'notifications/prompts/list_changed', filter: 'promptsListChanged' },
  resources: { method: 'notifications/resources/list_changed', filter: 'resourcesListChanged' },
} as const

/**
 * Notifies a session when a list it was offered or a resource it subscribed to changes. Changes that happen before the
 * client is ready are sent once it is.
 */
export function follow(changes: Changes, session: Session, offered: JsonObject): void {
  if (session.dialect.changes !== 'session') return
  const stop = changes.listen((change) => {
    if (change.kind === 'extension') return change.tell(session)
    if (change.kind !== 'resource') {
      if ((offered[change.kind] as JsonObject | undefined)?.['listChanged'] !== true) return
      const { method } = NOTICES[change.kind]
      return session.whenReady(() => session.notify(method, {}), method)
    }
    const uri = watchedUri(session.subscriptions, change)
    if (uri === undefined) return
    session.whenReady(() => session.notify('notifications/resources/updated', { uri }), uri)
  })
  session.onClose(stop)
}

/** `notifications/initialized` */
export function initialized(context: Context): void {
  callOf(context).peer.session?.setReady()
}

/**
 * The URI under which a change of a resource is sent to a client that subscribed to it or to one of its parents: its own, or
 * that of the parent if the resource is not for everybody.
 */
export function watchedUri(
  watched: ReadonlySet<string> | undefined,
  { uri, isForSome }: ResourceChange,
): string | undefined {
  if (watched === undefined || watched.size === 0) return undefined
  if (watched.has(uri)) return uri
  for (const one of watched)
    if (uri.startsWith(one) && (one.endsWith('/') || uri[one.length] === '/')) return isForSome() ? one : uri
  return undefined
}
