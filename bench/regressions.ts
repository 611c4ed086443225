import type { Row } from './measure.ts'

/** The units that are compared. In a short run, p99 and JIT compilation say more about the run than about our code. */
const UNITS = new Set(['req/s', 'msg/s', 'µs p50', 'ms', 'MB'])
/** A ratio may fall to this share of the recorded one before it counts as lost. */
const SHARE = 0.7

/** One of our ratios to the limit, now and as recorded, inverted where less is better, so that more is always better. */
export interface Ratio {
  readonly name: string
  readonly now: number
  readonly recorded: number
}

/** Our ratios with the recorded ones; throws if the record lacks one, or if there is nothing to compare. */
export function ratiosOf(rows: readonly Row[], record: readonly Row[]): readonly Ratio[] {
  const ratios = rows.flatMap((row) => {
    if (!row.subject.startsWith('pierhead') || !UNITS.has(row.unit) || row.ratioToLimit === null) return []
    const name = `${row.work} (${row.unit}), ${row.subject}`
    const old = record.find(
      ({ work, unit, subject }) => work === row.work && unit === row.unit && subject === row.subject,
    )
    if (!old || old.ratioToLimit === null)
      throw new Error(`the record has no ratio for ${name}: run "npm run bench" and commit the record`)
    return [{ name, now: goodness(row, row.ratioToLimit), recorded: goodness(row, old.ratioToLimit) }]
  })
  if (ratios.length === 0) throw new Error('no ratio to bare Node was measured')
  return ratios
}

/** Whether a ratio fell further than noise explains. */
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

function goodness({ better: direction }: Row, ratio: number): number {
  return direction === 'more' ? ratio : 1 / ratio
}
