import { CALL_ROWS, type CallRow, titleOf } from './call-rows.ts'
import type { HandlerKind } from './kinds.ts'
import type { Row, Verdict } from './measure.ts'
import { LATENCIES } from './latency-rows.ts'
import { OURS, OURS_IN_MEMORY, OURS_JSON, OURS_OPEN, V2 } from './subjects.ts'
import { CREATE_WORK, FIRST_CALL_WORK, VERSION_WORK } from './workloads/command.ts'
import { scalingWork } from './workloads/nodes.ts'
import { sessionGrowthWork } from './workloads/sessions.ts'
import { growthWork } from './workloads/tasks.ts'
import { workersWork } from './workloads/workers.ts'

/** What a goal bounds: the ratio to the limit, to official v2, to our server without `auth` or with its sessions in memory, the difference from the limit, or the value itself. */
type Measure = 'limit' | 'official v2' | 'no auth' | 'in memory' | 'above the limit' | 'value'

type Bound = { readonly of: Measure } & ({ readonly least: number } | { readonly most: number })

/** A bound for our row of a workload in a unit. */
type Goal = Bound & {
  readonly work: string
  readonly unit: string
  /** The subject of the row; by default our server with zod schemas. */
  readonly subject?: string
  /** An alternative bound; reaching either one is enough. */
  readonly or?: Bound
}

/** The highest latencies of a call, as seen by the client. */
const PERCENTILES = [
  { unit: 'µs p50', most: 100 },
  { unit: 'µs p95', most: 500 },
  { unit: 'µs p99', most: 1000 },
  { unit: 'µs p99.9', most: 5000 },
]
const TCP = ['TCP tools/call, 4 KB in, 16 × 16', 'TCP tools/call, 4 KB in and out, 16 × 16']
const POINTS = ['1 × 1', '16 × 1', '16 × 16']
const HELD = [
  { work: 'sessions held over TCP', least: 45_000 },
  { work: 'sessions held over WebSocket', least: 15_000 },
  { work: 'sessions held over SSE', least: 15_000 },
]
const SESSION_GROWTH = (['in memory', 'in Redis'] as const).map(sessionGrowthWork)
const TASK_GROWTH = (['memory', 'sqlite'] as const).flatMap((store) =>
  (['call', 'poll'] as const).map((work) => growthWork(work, store)),
)
const LISTS = ['HTTP tools/list, 100 tools of ten fields', 'HTTP tools/list, 1,000 tools of ten fields']

/** Our goals. Cold start and memory are judged without a schema library, since bare Node loads none. */
export const GOALS: readonly Goal[] = [
  ...Object.values(CALL_ROWS).flatMap((row) => row.kinds.flatMap((kind) => callGoals(row, kind))),
  {
    work: 'in process tools/call in a long run, what the last seconds cost more than the first',
    unit: '%',
    of: 'value',
    most: 5,
  },
  {
    work: 'in process tools/call in a long run, growth of the heap',
    unit: 'KB per million calls',
    of: 'value',
    most: 16,
  },
  {
    work: 'in process tools/call in batches of ten, 2025-03-26',
    unit: 'msg/s',
    of: 'limit',
    least: 0.6,
    or: { of: 'value', least: 269_000 },
  },
  ...(['2025-11-25', '2026-07-28'] as const).map((revision) => ({
    work: workersWork(revision),
    unit: 'times one process',
    of: 'value' as const,
    least: 1.6,
  })),
  { work: 'stdio tools/call, one in flight', unit: 'µs p50', of: 'limit', most: 1.3 },
  { work: 'stdio tools/call, one in flight', unit: 'µs p99', of: 'limit', most: 2 },
  ...TCP.map((work): Goal => ({
    work,
    unit: 'msg/s',
    of: 'limit',
    least: 0.85,
    or: { of: 'value', least: 43_000 },
  })),
  ...POINTS.map((point): Goal => ({
    work: `WebSocket tools/call, ${point}`,
    unit: 'msg/s',
    of: 'limit',
    least: 0.85,
  })),
  ...LATENCIES.flatMap((work) =>
    PERCENTILES.map(({ unit, most }): Goal => ({ work, unit, of: 'value', most })),
  ),
  ...HELD.flatMap(({ work, least }): readonly Goal[] => [
    { work, unit: 'answered', of: 'value', least },
    { work, unit: 'KB', of: 'above the limit', most: 8 },
  ]),
  {
    work: 'session held over TCP with 100 subscriptions and a call that waits',
    unit: 'KB',
    of: 'value',
    most: 64,
  },
  ...LISTS.flatMap((work): readonly Goal[] => [
    { work, unit: 'req/s', of: 'limit', least: 0.5 },
    { work, unit: 'req/s', of: 'official v2', least: 50 },
  ]),
  {
    work: 'in process tools/call, what a call costs more with many tools than with one',
    unit: '%',
    of: 'value',
    most: 5,
  },
  {
    work: 'cold start to first reply, stdio',
    unit: 'ms',
    subject: OURS_JSON.name,
    of: 'limit',
    most: 1.4,
  },
  { work: 'cold start to first reply, HTTP', unit: 'ms', subject: OURS_JSON.name, of: 'limit', most: 1.5 },
  {
    work: 'RSS after load, stdio',
    unit: 'MB',
    subject: OURS_JSON.name,
    of: 'above the limit',
    most: 12,
  },
  { work: 'idle 2025 session, 50 tools', unit: 'KB', of: 'value', most: 6 },
  { work: 'connections held over ten nodes', unit: 'answered', of: 'value', least: 100_000 },
  { work: 'HTTP tools/call at another node, sessions in Redis', unit: 'round trips', of: 'value', most: 2 },
  { work: 'HTTP tools/call, sessions in Redis', unit: 'req/s', of: 'in memory', least: 0.5 },
  ...[...SESSION_GROWTH, ...TASK_GROWTH].map(
    (work) => ({ work, unit: '%', of: 'above the limit', most: 5 }) as const,
  ),
  { work: scalingWork(10), unit: 'times one node', of: 'value', least: 10 },
  { work: 'HTTP, three times what the server can do', unit: 'answers/s', of: 'limit', least: 0.8 },
  { work: 'client tools/call over HTTP, 2026-07-28', unit: 'µs p50', of: 'limit', most: 1.5 },
  { work: 'client tools/call over HTTP, 2025-11-25', unit: 'µs p50', of: 'limit', most: 1.5 },
  { work: 'client tools/call over stdio, 2026-07-28', unit: 'µs p50', of: 'limit', most: 1.3 },
  { work: 'client tools/call over stdio, 2025-11-25', unit: 'µs p50', of: 'limit', most: 1.3 },
  { work: 'HTTP tools/call with the same token, 2026-07-28', unit: 'req/s', of: 'no auth', least: 0.9 },
  { work: 'install', unit: 'packages', of: 'value', most: 6 },
  { work: 'install', unit: 'MB', of: 'value', most: 6 },
  { work: VERSION_WORK, unit: 'ms', of: 'limit', most: 1.5 },
  { work: CREATE_WORK, unit: 's', of: 'value', most: 10 },
  { work: FIRST_CALL_WORK, unit: 's', of: 'value', most: 60 },
]

function callGoals(row: CallRow, kind: HandlerKind): readonly Goal[] {
  const work = titleOf(row, kind)
  const when = kind.isAsync ? 'async' : 'sync'
  const most = row.p99?.[when]
  const rate: Goal = { work, unit: row.unit, of: 'limit', least: row.rate[when] }
  return most === undefined ? [rate] : [rate, { work, unit: 'µs p99', of: 'limit', most }]
}

/** Adds to each row its goals and whether they are met. */
export function judge(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => {
    const own = GOALS.filter(
      ({ work, unit, subject = OURS.name }) =>
        work === row.work && unit === row.unit && subject === row.subject,
    )
    const goals = own.flatMap((goal) => verdictOf(goal, row, rows) ?? [])
    return goals.length > 0 ? { ...row, goals } : row
  })
}

/** Whether rows of a workload miss a goal that a profile of our server and the limit can explain. */
export function needsProfile(rows: readonly Row[]): boolean {
  const hasRates = rows.some(
    ({ unit, subject, ratioToLimit }) =>
      (unit === 'req/s' || unit === 'msg/s') && subject === OURS.name && ratioToLimit !== null,
  )
  return hasRates && rows.some(({ goals = [] }) => goals.some(({ met }) => !met))
}

/** Undefined if the run did not measure the row that the goal compares with. */
function verdictOf(goal: Goal, row: Row, rows: readonly Row[]): Verdict | undefined {
  const found = measurementOf(goal.of, row, rows)
  if (found === undefined) return undefined
  const other = goal.or && measurementOf(goal.or.of, row, rows)
  const met =
    reaches(goal, found) || (goal.or !== undefined && other !== undefined && reaches(goal.or, other))
  const text = goal.or ? `${boundText(goal, row)} or ${boundText(goal.or, row)}` : boundText(goal, row)
  return { goal: text, found: Number(found.toPrecision(4)), met }
}

function measurementOf(of: Measure, row: Row, rows: readonly Row[]): number | undefined {
  const valueOf = (name: string): number | undefined =>
    rows.find(({ work, unit, subject }) => work === row.work && unit === row.unit && subject === name)?.value
  const limit = valueOf('limit')
  const peer = valueOf(V2.name)
  const open = valueOf(OURS_OPEN.name)
  const inMemory = valueOf(OURS_IN_MEMORY.name)
  switch (of) {
    case 'limit':
      return limit === undefined ? undefined : row.value / limit
    case 'official v2':
      return peer === undefined ? undefined : row.value / peer
    case 'no auth':
      return open === undefined ? undefined : row.value / open
    case 'in memory':
      return inMemory === undefined ? undefined : row.value / inMemory
    case 'above the limit':
      return limit === undefined ? undefined : row.value - limit
    case 'value':
      return row.value
  }
}

function reaches(bound: Bound, found: number): boolean {
  return 'least' in bound ? found >= bound.least : found <= bound.most
}

function boundText(bound: Bound, { unit }: Row): string {
  const amount = 'least' in bound ? `≥ ${bound.least.toLocaleString('en')}` : `≤ ${bound.most}`
  switch (bound.of) {
    case 'limit':
      return `${amount} × limit`
    case 'official v2':
      return `${amount} × official v2`
    case 'no auth':
      return `${amount} × without auth`
    case 'in memory':
      return `${amount} × in memory`
    case 'above the limit':
      return `${amount} ${unit} above limit`
    case 'value':
      return `${amount} ${unit}`
  }
}
