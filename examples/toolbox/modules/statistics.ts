import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { NUMBERS, pure, tidy } from '../pure.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length
const deviation = (numbers: readonly number[]): number =>
  Math.sqrt(mean(numbers.map((one) => (one - mean(numbers)) ** 2)))

/** The value below which a share of the numbers lies, between two of them if necessary. */
function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

/** How two measures vary: each alone, and together. */
function variation(x: readonly number[], y: readonly number[]): { xx: number; yy: number; xy: number } {
  if (x.length !== y.length) throw new ToolError(`There are ${x.length} values of x and ${y.length} of y.`)
  const [mx, my] = [mean(x), mean(y)]
  return {
    xx: sum(x.map((one) => (one - mx) ** 2)),
    yy: sum(y.map((one) => (one - my) ** 2)),
    xy: sum(x.map((one, i) => (one - mx) * ((y[i] ?? 0) - my))),
  }
}

export const statistics: ToolMap = {
  stat_summary: pure(
    'Describes numbers: how many, least, greatest, sum, mean, median and standard deviation.',
    { numbers: NUMBERS },
    {
      count: z.int(),
      least: z.number(),
      greatest: z.number(),
      sum: z.number(),
      mean: z.number(),
      median: z.number(),
      deviation: z.number(),
    },
    ({ numbers }) => ({
      count: numbers.length,
      least: Math.min(...numbers),
      greatest: Math.max(...numbers),
      sum: tidy(sum(numbers)),
      mean: tidy(mean(numbers)),
      median: tidy(quantile(numbers, 0.5)),
      deviation: tidy(deviation(numbers)),
    }),
  ),
  stat_percentile: pure(
    'Finds the value below which so many percent of the numbers lie.',
    { numbers: NUMBERS, percent: z.number().min(0).max(100) },
    { value: z.number() },
    ({ numbers, percent }) => ({ value: tidy(quantile(numbers, percent / 100)) }),
  ),
  stat_histogram: pure(
    'Counts the numbers in intervals of the same width.',
    { numbers: NUMBERS, bins: z.int().min(1).max(100).default(10) },
    { bins: z.array(z.object({ from: z.number(), to: z.number(), count: z.int() })) },
    ({ numbers, bins }) => {
      const least = Math.min(...numbers)
      const width = (Math.max(...numbers) - least) / bins || 1
      const counts = Array.from({ length: bins }, () => 0)
      for (const one of numbers) {
        const at = Math.min(Math.floor((one - least) / width), bins - 1)
        counts[at] = (counts[at] ?? 0) + 1
      }
      return {
        bins: counts.map((count, i) => ({
          from: tidy(least + i * width),
          to: tidy(least + (i + 1) * width),
          count,
        })),
      }
    },
  ),
  stat_mode: pure(
    'Finds the numbers that occur most often.',
    { numbers: NUMBERS },
    { modes: z.array(z.number()), count: z.int() },
    ({ numbers }) => {
      const counts = new Map<number, number>()
      for (const one of numbers) counts.set(one, (counts.get(one) ?? 0) + 1)
      const most = Math.max(...counts.values())
      return { modes: [...counts].filter(([, count]) => count === most).map(([one]) => one), count: most }
    },
  ),
  stat_correlation: pure(
    'Measures how strongly two series go together, from -1 to 1 (Pearson).',
    { x: NUMBERS, y: NUMBERS },
    { correlation: z.number() },
    ({ x, y }) => {
      const { xx, yy, xy } = variation(x, y)
      if (xx === 0 || yy === 0) throw new ToolError('A series whose values are all equal has no correlation.')
      return { correlation: tidy(xy / Math.sqrt(xx * yy)) }
    },
  ),
  stat_regression: pure(
    'Finds the straight line that fits points best: y = slope × x + intercept.',
    { x: NUMBERS, y: NUMBERS },
    { slope: z.number(), intercept: z.number() },
    ({ x, y }) => {
      const { xx, xy } = variation(x, y)
      if (xx === 0) throw new ToolError('A line needs at least two different values of x.')
      return { slope: tidy(xy / xx), intercept: tidy(mean(y) - (xy / xx) * mean(x)) }
    },
  ),
  stat_moving_average: pure(
    'Smooths a series: the mean of each number and those before it, within a window.',
    { numbers: NUMBERS, window: z.int().min(1).max(1000) },
    { numbers: z.array(z.number()) },
    ({ numbers, window }) => ({
      numbers: numbers.map((_, i) => tidy(mean(numbers.slice(Math.max(0, i + 1 - window), i + 1)))),
    }),
  ),
  stat_scores: pure(
    'Says by how many standard deviations each number differs from the mean.',
    { numbers: NUMBERS },
    { scores: z.array(z.number()) },
    ({ numbers }) => {
      const [middle, spread] = [mean(numbers), deviation(numbers)]
      return { scores: numbers.map((one) => (spread === 0 ? 0 : tidy((one - middle) / spread))) }
    },
  ),
  stat_weighted_mean: pure(
    'Finds the mean of values that count differently.',
    { values: NUMBERS, weights: NUMBERS },
    { mean: z.number() },
    ({ values, weights }) => {
      const total = sum(weights)
      if (values.length !== weights.length || total === 0)
        throw new ToolError('Give each value a weight, and not only zeros.')
      return { mean: tidy(sum(values.map((one, i) => one * (weights[i] ?? 0))) / total) }
    },
  ),
}
