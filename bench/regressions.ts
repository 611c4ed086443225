import type { Row } from './measure.ts'

/** What is compared. The slowest of a hundred, and what V8 compiles in a short run, tell more of the run than of us. */
const UNITS = new Set(['req/s', 'msg/s', 'µs p50', 'ms', 'MB'])
/** A ratio may fall to this share of the recorded one before it counts as lost. */
const SHARE = 0.7

/** One of our ratios to the limit, now and as recorded; above 1 is better, whichever way its unit goes. */
export interface Ratio {
  readonly name: string
  readonly now: number
  readonly recorded: number
}

/** Our ratios that the record has, too. */
export function ratiosOf(rows: readonly Row[], record: readonly Row[]): readonly Ratio[] {
  return rows.flatMap((row) => {
    if (!row.subject.startsWith('pierhead') || !UNITS.has(row.unit)) return []
    const old = record.find(
      ({ work, unit, subject }) => work === row.work && unit === row.unit && subject === row.subject,
    )
    if (row.ratioToLimit === null || !old || old.ratioToLimit === null) return []
    const name = `${row.work} (${row.unit}), ${row.subject}`
    return [{ name, now: goodness(row, row.ratioToLimit), recorded: goodness(row, old.ratioToLimit) }]
  })
}

/** Whether a ratio fell so far that chance does not explain it. */
export function isLost({ now, recorded }: Ratio): boolean {
  return now < recorded * SHARE
}

/** The better of two measurements of each ratio. */
export function better(first: readonly Ratio[], second: readonly Ratio[]): readonly Ratio[] {
  return first.map((ratio) => {
    const again = second.find(({ name }) => name === ratio.name)
    return again && again.now > ratio.now ? again : ratio
  })
}

function goodness({ better: way }: Row, ratio: number): number {
  return way === 'more' ? ratio : 1 / ratio
}
