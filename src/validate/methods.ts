import type { Revision } from '../protocol/revisions.ts'

/** A method of the protocol: who sends it, and which revisions have it. The table is our own, so that a mistake in that of our server shows. */
export interface Method {
  readonly method: string
  readonly from: 'client' | 'server' | 'both'
  readonly isNotification: boolean
  readonly since: Revision
  readonly until: Revision
  /** The capability of the server that it belongs to, as a path. */
  readonly capability?: string | undefined
}

const [A, B, C, D, E] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

type Row = readonly [Method['from'], method: string, Revision, Revision, capability?: string]

const REQUESTS: readonly Row[] = [
  ['client', 'initialize', A, D],
  ['client', 'server/discover', E, E],
  ['both', 'ping', A, D],
  ['client', 'tools/list', A, E, 'tools'],
  ['client', 'tools/call', A, E, 'tools'],
  ['client', 'resources/list', A, E, 'resources'],
  ['client', 'resources/templates/list', A, E, 'resources'],
  ['client', 'resources/read', A, E, 'resources'],
  ['client', 'resources/subscribe', A, D, 'resources.subscribe'],
  ['client', 'resources/unsubscribe', A, D, 'resources.subscribe'],
  ['client', 'prompts/list', A, E, 'prompts'],
  ['client', 'prompts/get', A, E, 'prompts'],
  // The first revision has no capability for it.
  ['client', 'completion/complete', A, A],
  ['client', 'completion/complete', B, E, 'completions'],
  ['client', 'logging/setLevel', A, D, 'logging'],
  ['client', 'subscriptions/listen', E, E],
  ['both', 'tasks/get', D, D, 'tasks'],
  ['both', 'tasks/result', D, D, 'tasks'],
  ['both', 'tasks/list', D, D, 'tasks.list'],
  ['both', 'tasks/cancel', D, D, 'tasks.cancel'],
  ['client', 'tasks/get', E, E, 'extensions.io.modelcontextprotocol/tasks'],
  ['client', 'tasks/update', E, E, 'extensions.io.modelcontextprotocol/tasks'],
  ['client', 'tasks/cancel', E, E, 'extensions.io.modelcontextprotocol/tasks'],
  ['server', 'sampling/createMessage', A, D],
  ['server', 'roots/list', A, D],
  ['server', 'elicitation/create', C, D],
]

const NOTIFICATIONS: readonly Row[] = [
  ['client', 'notifications/initialized', A, D],
  ['both', 'notifications/cancelled', A, E],
  ['both', 'notifications/progress', A, D],
  ['server', 'notifications/progress', E, E],
  ['server', 'notifications/message', A, E, 'logging'],
  ['server', 'notifications/resources/list_changed', A, E, 'resources.listChanged'],
  ['server', 'notifications/resources/updated', A, E, 'resources.subscribe'],
  ['server', 'notifications/tools/list_changed', A, E, 'tools.listChanged'],
  ['server', 'notifications/prompts/list_changed', A, E, 'prompts.listChanged'],
  ['client', 'notifications/roots/list_changed', A, D],
  ['server', 'notifications/elicitation/complete', D, D],
  ['server', 'notifications/subscriptions/acknowledged', E, E],
  ['both', 'notifications/tasks/status', D, D, 'tasks'],
  ['server', 'notifications/tasks', E, E, 'extensions.io.modelcontextprotocol/tasks'],
]

const methodOf =
  (isNotification: boolean) =>
  ([from, method, since, until, capability]: Row): Method => ({
    method,
    from,
    isNotification,
    since,
    until,
    capability,
  })

export const METHODS: readonly Method[] = [
  ...REQUESTS.map(methodOf(false)),
  ...NOTIFICATIONS.map(methodOf(true)),
]

/** Whether a revision has a method. */
export function isIn({ since, until }: Method, revision: Revision): boolean {
  return since <= revision && revision <= until
}
