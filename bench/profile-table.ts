/** A CPU profile of V8, and the time when it started, in microseconds of the monotonic clock of the machine. */
export interface RecordedProfile {
  readonly startedAt: number
  readonly profile: {
    readonly startTime: number
    readonly nodes: readonly ProfileNode[]
    /** The ids of the nodes that ran, and the microseconds between them; the first counts from the start. */
    readonly samples: readonly number[]
    readonly timeDeltas: readonly number[]
  }
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

/** A time span, in microseconds of the same clock. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** One program under load: its profiles, when it was loaded, and how many calls it answered. */
export interface ProfiledProgram {
  readonly profiles: readonly RecordedProfile[]
  readonly spans: readonly Span[]
  readonly calls: number
}

/** The self time of a function in both programs, in microseconds per call. */
export interface FunctionCost {
  readonly name: string
  readonly where: string
  readonly pierhead: number
  readonly limit: number
}

/** The functions with the most self time; `rest` and `total` cover the others and all. Waiting is not counted. */
export interface ProfileTable {
  readonly workload: string
  readonly calls: { readonly pierhead: number; readonly limit: number }
  readonly functions: readonly FunctionCost[]
  readonly rest: FunctionCost
  readonly total: FunctionCost
}

const TOP = 25

/** Compares where two programs spend their time under the same load. */
export function compareProfiles(
  workload: string,
  pierhead: ProfiledProgram,
  limit: ProfiledProgram,
): ProfileTable {
  const [ours, bare] = [costsOf(pierhead), costsOf(limit)]
  const costs = [...new Set([...ours.keys(), ...bare.keys()])].map((key): FunctionCost => {
    const [name = '', where = ''] = key.split(SEPARATOR)
    return { name, where, pierhead: ours.get(key) ?? 0, limit: bare.get(key) ?? 0 }
  })
  const sorted = costs.toSorted((left, right) => larger(right) - larger(left))
  return {
    workload,
    calls: { pierhead: pierhead.calls, limit: limit.calls },
    functions: sorted.slice(0, TOP),
    rest: sumOf('everything else', sorted.slice(TOP)),
    total: sumOf('total', sorted),
  }
}

/** The table as text for a terminal. */
export function profileText({ workload, calls, functions, rest, total }: ProfileTable): string {
  const counts = `${calls.pierhead.toLocaleString('en')} calls of pierhead and ${calls.limit.toLocaleString('en')} of the limit`
  const lines = [...functions, rest, total].map(({ name, where, pierhead, limit }) => {
    const cells = [pierhead, limit, pierhead - limit].map((micros) => micros.toFixed(2).padStart(10))
    return `${`  ${name}`.padEnd(34).slice(0, 34)}${cells.join('')}  ${where}`.trimEnd()
  })
  const head = `${''.padEnd(34)}${['pierhead', 'limit', 'more'].map((cell) => cell.padStart(10)).join('')}`
  return [`${workload}: self time in µs per call, from ${counts}`, head, ...lines].join('\n')
}

/** Separates the name of a function from its place; neither contains it. */
const SEPARATOR = '\n'

/** The self time of each function per call, while the program was loaded. */
function costsOf({ profiles, spans, calls }: ProfiledProgram): ReadonlyMap<string, number> {
  const costs = new Map<string, number>()
  for (const { startedAt, profile } of profiles) {
    const keys = new Map(profile.nodes.map(({ id, callFrame }) => [id, keyOf(callFrame)]))
    let at = startedAt
    for (const [index, sample] of profile.samples.entries()) {
      at += profile.timeDeltas[index] ?? 0
      const micros = profile.timeDeltas[index + 1] ?? 0
      const key = keys.get(sample)
      if (key === undefined || micros === 0 || !spans.some(({ from, to }) => at >= from && at < to)) continue
      costs.set(key, (costs.get(key) ?? 0) + micros / calls)
    }
  }
  return costs
}

/** Undefined for the time in which the program waits. */
function keyOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string | undefined {
  if (functionName === '(idle)') return undefined
  const place = url === '' ? '' : `${shortened(url)}:${lineNumber + 1}`
  return `${functionName || '(anonymous)'}${SEPARATOR}${place}`
}

/** A file as seen from the work tree. */
function shortened(url: string): string {
  return url.replace(/^file:\/\//, '').replace(`${process.cwd()}/`, '')
}

function larger({ pierhead, limit }: FunctionCost): number {
  return Math.max(pierhead, limit)
}

function sumOf(name: string, costs: readonly FunctionCost[]): FunctionCost {
  const sum = (of: 'pierhead' | 'limit'): number => costs.reduce((total, cost) => total + cost[of], 0)
  return { name, where: '', pierhead: sum('pierhead'), limit: sum('limit') }
}
