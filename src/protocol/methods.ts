import type { Revision } from './revisions.ts'

export interface MethodRow {
  readonly from: 'client' | 'server' | 'both'
  readonly kind: 'request' | 'notification'
  /** First and last revision that has the method; without `until` it is current. */
  readonly since: Revision
  readonly until?: Revision
  /** The capability that the method needs: the receiver's for requests, the sender's for notifications. */
  readonly capability?: string
  /** The param that the `Mcp-Name` header repeats. */
  readonly named?: 'name' | 'uri' | 'taskId'
  /** The member of the result that holds a paginated list. */
  readonly list?: 'tools' | 'resources' | 'resourceTemplates' | 'prompts'
  /** The result carries caching hints at 2026-07-28. */
  readonly cached?: true
  /** The handler may ask the client for input in further rounds at 2026-07-28. */
  readonly rounds?: true
  /** The request stays open until either side ends it. */
  readonly lasting?: true
  /** At 2026-07-28 the method is sent only inside an `input_required` result. */
  readonly embedded?: true
}

/** Every method of the protocol, one row each. */
// oxfmt-ignore
export const METHODS = {
  'initialize':                { from: 'client', kind: 'request', since: '2024-11-05', until: '2025-11-25' },
  'server/discover':           { from: 'client', kind: 'request', since: '2026-07-28', cached: true },
  'ping':                      { from: 'both',   kind: 'request', since: '2024-11-05', until: '2025-11-25' },
  'tools/list':                { from: 'client', kind: 'request', since: '2024-11-05', capability: 'tools', list: 'tools', cached: true },
  'tools/call':                { from: 'client', kind: 'request', since: '2024-11-05', capability: 'tools', named: 'name', rounds: true },
  'resources/list':            { from: 'client', kind: 'request', since: '2024-11-05', capability: 'resources', list: 'resources', cached: true },
  'resources/templates/list':  { from: 'client', kind: 'request', since: '2024-11-05', capability: 'resources', list: 'resourceTemplates', cached: true },
  'resources/read':            { from: 'client', kind: 'request', since: '2024-11-05', capability: 'resources', named: 'uri', cached: true, rounds: true },
  'resources/subscribe':       { from: 'client', kind: 'request', since: '2024-11-05', until: '2025-11-25', capability: 'resources.subscribe' },
  'resources/unsubscribe':     { from: 'client', kind: 'request', since: '2024-11-05', until: '2025-11-25', capability: 'resources.subscribe' },
  'prompts/list':              { from: 'client', kind: 'request', since: '2024-11-05', capability: 'prompts', list: 'prompts', cached: true },
  'prompts/get':               { from: 'client', kind: 'request', since: '2024-11-05', capability: 'prompts', named: 'name', rounds: true },
  'completion/complete':       { from: 'client', kind: 'request', since: '2024-11-05', capability: 'completions' },
  'logging/setLevel':          { from: 'client', kind: 'request', since: '2024-11-05', until: '2025-11-25', capability: 'logging' },
  'subscriptions/listen':      { from: 'client', kind: 'request', since: '2026-07-28', lasting: true },
  'tasks/get':                 { from: 'both',   kind: 'request', since: '2025-11-25', capability: 'tasks', named: 'taskId' },
  'tasks/result':              { from: 'both',   kind: 'request', since: '2025-11-25', until: '2025-11-25', capability: 'tasks' },
  'tasks/list':                { from: 'both',   kind: 'request', since: '2025-11-25', until: '2025-11-25', capability: 'tasks.list' },
  'tasks/update':              { from: 'client', kind: 'request', since: '2026-07-28', capability: 'tasks', named: 'taskId' },
  'tasks/cancel':              { from: 'both',   kind: 'request', since: '2025-11-25', capability: 'tasks.cancel', named: 'taskId' },

  'sampling/createMessage':    { from: 'server', kind: 'request', since: '2024-11-05', capability: 'sampling', embedded: true },
  'roots/list':                { from: 'server', kind: 'request', since: '2024-11-05', capability: 'roots', embedded: true },
  'elicitation/create':        { from: 'server', kind: 'request', since: '2025-06-18', capability: 'elicitation', embedded: true },

  'notifications/initialized':                 { from: 'client', kind: 'notification', since: '2024-11-05', until: '2025-11-25' },
  'notifications/cancelled':                   { from: 'both',   kind: 'notification', since: '2024-11-05' },
  'notifications/progress':                    { from: 'both',   kind: 'notification', since: '2024-11-05' },
  'notifications/message':                     { from: 'server', kind: 'notification', since: '2024-11-05', capability: 'logging' },
  'notifications/resources/list_changed':      { from: 'server', kind: 'notification', since: '2024-11-05', capability: 'resources.listChanged' },
  'notifications/resources/updated':           { from: 'server', kind: 'notification', since: '2024-11-05', capability: 'resources.subscribe' },
  'notifications/tools/list_changed':          { from: 'server', kind: 'notification', since: '2024-11-05', capability: 'tools.listChanged' },
  'notifications/prompts/list_changed':        { from: 'server', kind: 'notification', since: '2024-11-05', capability: 'prompts.listChanged' },
  'notifications/roots/list_changed':          { from: 'client', kind: 'notification', since: '2024-11-05', until: '2025-11-25', capability: 'roots.listChanged' },
  'notifications/elicitation/complete':        { from: 'server', kind: 'notification', since: '2025-11-25', until: '2025-11-25' },
  'notifications/subscriptions/acknowledged':  { from: 'server', kind: 'notification', since: '2026-07-28' },
  'notifications/tasks/status':                { from: 'both',   kind: 'notification', since: '2025-11-25', until: '2025-11-25', capability: 'tasks' },
  'notifications/tasks':                       { from: 'server', kind: 'notification', since: '2026-07-28', capability: 'tasks' },
} as const
METHODS satisfies Record<string, MethodRow>

/** The requests that clients send. */
export type ServerMethod =
  | 'initialize'
  | 'server/discover'
  | 'ping'
  | 'tools/list'
  | 'tools/call'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'prompts/list'
  | 'prompts/get'
  | 'completion/complete'
  | 'logging/setLevel'
  | 'subscriptions/listen'
  | 'tasks/get'
  | 'tasks/result'
  | 'tasks/list'
  | 'tasks/update'
  | 'tasks/cancel'

/** The questions that servers send. */
export type ClientMethod = 'sampling/createMessage' | 'roots/list' | 'elicitation/create'

const rows: ReadonlyMap<string, MethodRow> = new Map<string, MethodRow>(Object.entries(METHODS))

/** The row of a method, or undefined if no revision has it. */
export function methodRow(method: string): MethodRow | undefined {
  return rows.get(method)
}

/** Whether a revision has a method. Dates compare as text. */
export function isMethodAt(row: MethodRow, revision: Revision): boolean {
  return row.since <= revision && (row.until === undefined || revision <= row.until)
}
