import type { Row } from './measure.ts'

/** The units whose ratios are judged. In a short run, p99 and JIT compilation say more about the run than about our code. */
export const STEADY_UNITS: ReadonlySet<string> = new Set(['req/s', 'msg/s', 'µs p50', 'ms', 'MB'])
/** A ratio may fall to this share of the recorded one before it counts as lost. */
const SHARE = 0.7

/**
 * One of our ratios to the limit, now and as recorded, inverted where less is better, so that more is always better. Work that
 * was never recorded has no recorded ratio.
 */
export interface Ratio {
  readonly name: string
  readonly now: number
  readonly recorded: number | undefined
  /** Whether other programs disturbed the measurement. */
  readonly busy: boolean
}

/** Our ratios with the recorded ones; throws if there is nothing to compare, or if the record has the work but not our row. */
export function ratiosOf(rows: readonly Row[], record: readonly Row[]): readonly Ratio[] {
  if (record.length === 0) throw new Error(`the record is empty: ${RECORD_IT}`)
  const ratios = rows.flatMap((row) => {
    if (!row.subject.startsWith('pierhead') || !STEADY_UNITS.has(row.unit) || row.ratioToLimit === null)
      return []
    const name = `${row.work} (${row.unit}), ${row.subject}`
    const old = record.find(
      ({ work, unit, subject }) => work === row.work && unit === row.unit && subject === row.subject,
    )
    const recorded = old?.ratioToLimit ?? undefined
    if (recorded === undefined && record.some(({ work }) => work === row.work))
      throw new Error(`the record has no ratio for ${name}: ${RECORD_IT}`)
    return [
      {
        name,
        now: goodness(row, row.ratioToLimit),
        recorded: recorded === undefined ? undefined : goodness(row, recorded),
        busy: row.busy === true,
      },
    ]
  })
  if (ratios.length === 0) throw new Error('no ratio to bare Node was measured')
  return ratios
}

const RECORD_IT = 'run "npm run bench" and commit the record'

/** Whether a ratio fell further than noise explains. A recorded ratio beyond the limit only shows that the limit was not one. */
export function isLost({ now, recorded }: Ratio): boolean {
  return recorded !== undefined && now < Math.min(recorded, 1) * SHARE
}

/** A new ratio cannot be judged before it is recorded. */
export function verdictOf(ratio: Ratio): 'kept' | 'LOST' | 'new' {
  if (ratio.recorded === undefined) return 'new'
  return isLost(ratio) ? 'LOST' : 'kept'
}

/** How many ratios were kept and lost, and how many could not be judged. To judge none is a failure. */
export function tallyOf(ratios: readonly Ratio[]): {
  readonly passed: number
  readonly failed: number
  readonly unjudged: number
} {
  const count = (verdict: ReturnType<typeof verdictOf>): number =>
    ratios.filter((ratio) => verdictOf(ratio) === verdict).length
  const passed = count('kept')
  const lost = count('LOST')
  return { passed, failed: passed + lost === 0 ? 1 : lost, unjudged: count('new') }
}

/** The better of two measurements of each ratio. */
export function better(first: readonly Ratio[], second: readonly Ratio[]): readonly Ratio[] {
  return first.map((ratio) => {
    const again = second.find(({ name }) => name === ratio.name)
    return again && again.now > ratio.now ? again : ratio
  })
}

function goodness({ better: direction }: Row, ratio: number): number {
  return direction === 'more' ? ratio : 1 / ratio
}
