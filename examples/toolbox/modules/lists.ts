import { ToolError, type ToolMap } from 'pierhead'
import { z } from 'zod'
import { ITEMS, pure } from '../pure.ts'

/** What two lists make together, without repetitions. */
const COMBINATIONS = {
  union: ['Joins two lists', (a, b) => [...a, ...b]],
  intersection: [
    'Finds the items that two lists have in common',
    (a, b) => a.filter((one) => b.includes(one)),
  ],
  difference: [
    'Finds the items of one list that another lacks',
    (a, b) => a.filter((one) => !b.includes(one)),
  ],
} satisfies Record<
  string,
  readonly [about: string, combine: (a: readonly string[], b: readonly string[]) => readonly string[]]
>

/** A small generator of random numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const lists: ToolMap = {
  list_sort: pure(
    'Sorts a list by letters, or by the numbers in it: item2 before item10.',
    { items: ITEMS, numeric: z.boolean().default(false), descending: z.boolean().default(false) },
    { items: z.array(z.string()) },
    ({ items, numeric, descending }) => {
      const { compare } = new Intl.Collator('en', { numeric })
      return { items: items.toSorted((a, b) => (descending ? compare(b, a) : compare(a, b))) }
    },
  ),
  list_unique: pure(
    'Removes the repetitions from a list.',
    { items: ITEMS },
    { items: z.array(z.string()), removed: z.int() },
    ({ items }) => {
      const unique = [...new Set(items)]
      return { items: unique, removed: items.length - unique.length }
    },
  ),
  list_chunk: pure(
    'Cuts a list into pieces of the same size; the last may be shorter.',
    { items: ITEMS, size: z.int().min(1).max(1000) },
    { chunks: z.array(z.array(z.string())) },
    ({ items, size }) => ({
      chunks: Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
        items.slice(i * size, (i + 1) * size),
      ),
    }),
  ),
  list_count: pure(
    'Counts how often each item occurs in a list, the most frequent first.',
    { items: ITEMS },
    { counts: z.array(z.object({ item: z.string(), count: z.int() })) },
    ({ items }) => {
      const counts = new Map<string, number>()
      for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
      return {
        counts: [...counts].map(([item, count]) => ({ item, count })).toSorted((a, b) => b.count - a.count),
      }
    },
  ),
  ...Object.fromEntries(
    Object.entries(COMBINATIONS).map(([name, [about, combine]]) => [
      `list_${name}`,
      pure(
        `${about}, without repetitions.`,
        { a: ITEMS, b: ITEMS },
        { items: z.array(z.string()) },
        ({ a, b }) => ({ items: [...new Set(combine(a, b))] }),
      ),
    ]),
  ),
  list_zip: pure(
    'Pairs the items of two lists of the same length.',
    { a: ITEMS, b: ITEMS },
    { pairs: z.array(z.tuple([z.string(), z.string()])) },
    ({ a, b }) => {
      if (a.length !== b.length) throw new ToolError(`The lists have ${a.length} and ${b.length} items.`)
      return { pairs: a.map((item, i) => [item, b[i] ?? ''] as [string, string]) }
    },
  ),
  list_shuffle: pure(
    'Shuffles a list, always in the same way for the same seed.',
    { items: ITEMS, seed: z.int().min(0).max(1_000_000) },
    { items: z.array(z.string()) },
    ({ items, seed }) => {
      const random = randomFrom(seed)
      const shuffled = [...items]
      for (let i = shuffled.length - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1))
        ;[shuffled[i], shuffled[j]] = [shuffled[j] ?? '', shuffled[i] ?? '']
      }
      return { items: shuffled }
    },
  ),
}
