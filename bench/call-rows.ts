import { ASYNC, type HandlerKind, KINDS, TEXT } from './kinds.ts'

/** A workload of calls that is measured with several kinds of handlers. */
export interface CallRow {
  /** The beginning of its names, and of the titles of its rows; the kind of the handler adds the rest. */
  readonly name: string
  readonly title: string
  readonly kinds: readonly HandlerKind[]
  readonly unit: 'req/s' | 'msg/s'
  /** The least ratio of our rate to that of the limit. */
  readonly rate: { readonly sync: number; readonly async: number }
  /** The greatest ratio of our p99 latency to that of the limit. */
  readonly p99?: { readonly sync?: number; readonly async: number }
}

/** The names of these workloads in the code. */
type CallWork =
  | 'httpSession'
  | 'http2026'
  | 'eventsSession'
  | 'events2026'
  | 'inProcess2025'
  | 'inProcess2026'
  | 'stdioMany'

const EVENTS = 'HTTP tools/call answered as SSE with one progress event'

// oxfmt-ignore
export const CALL_ROWS: Readonly<Record<CallWork, CallRow>> = {
  httpSession:   { name: 'http-session',    title: 'HTTP tools/call, 2025-11-25 session', kinds: KINDS,         unit: 'req/s', rate: { sync: 0.9, async: 0.85 },  p99: { sync: 1.5, async: 1.5 } },
  http2026:      { name: 'http-2026',       title: 'HTTP tools/call, 2026-07-28',         kinds: KINDS,         unit: 'req/s', rate: { sync: 0.9, async: 0.85 },  p99: { sync: 1.5, async: 1.5 } },
  eventsSession: { name: 'events-session',  title: `${EVENTS}, 2025-11-25 session`,       kinds: [TEXT, ASYNC], unit: 'req/s', rate: { sync: 0.8, async: 0.75 },  p99: { async: 1.5 } },
  events2026:    { name: 'events-2026',     title: `${EVENTS}, 2026-07-28`,               kinds: [TEXT, ASYNC], unit: 'req/s', rate: { sync: 0.8, async: 0.75 },  p99: { async: 1.5 } },
  inProcess2025: { name: 'in-process',      title: 'in process tools/call, 2025-11-25',   kinds: KINDS,         unit: 'msg/s', rate: { sync: 0.75, async: 0.65 } },
  inProcess2026: { name: 'in-process-2026', title: 'in process tools/call, 2026-07-28',   kinds: KINDS,         unit: 'msg/s', rate: { sync: 0.75, async: 0.65 } },
  stdioMany:     { name: 'stdio-128',       title: 'stdio tools/call, 128 in flight',     kinds: KINDS,         unit: 'msg/s', rate: { sync: 0.9, async: 0.85 } },
}

/** The name of a workload with a kind of handler. */
export function nameOf({ name }: CallRow, { suffix }: HandlerKind): string {
  return `${name}${suffix}`
}

/** The title of its rows. */
export function titleOf({ title }: CallRow, kind: HandlerKind): string {
  return `${title}${kind.title}`
}
