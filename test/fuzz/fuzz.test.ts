import { expect, test } from 'vitest'
import { run, toSource } from './fuzz.ts'
import { Random } from './random.ts'
import { TARGETS } from './targets.ts'

/** The same inputs every time; `npm run fuzz` has others. */
const SEED = 20_260_728

test.each(TARGETS.map((target) => [target.name, target] as const))(
  'nothing that the fuzzer makes for %s shows something that must not be',
  async (_, target) => {
    const count = Math.max(50, Math.round(target.share * 100))
    const { findings, inputs } = await run(target, { seed: SEED, count })
    expect(findings).toEqual([])
    expect(inputs).toBe(count)
  },
)

test('the same seed makes the same inputs, and another one others', () => {
  const [scan] = TARGETS
  const made = (seed: number): string[] =>
    Array.from({ length: 50 }, (_, index) => toSource(scan!.make(new Random(seed, 'scan', index), index)))
  expect(made(1)).toEqual(made(1))
  expect(made(2)).not.toEqual(made(1))
})

test('a finding names the smallest input that shows it, and how to make it again', async () => {
  const target = {
    name: 'sample',
    share: 1,
    make: (random: Random) => `${'x'.repeat(random.below(50))}!${'y'.repeat(random.below(50))}`,
    check(input: unknown) {
      if ((input as string).includes('!')) throw new Error(`there is a mark: ${String(input)}`)
    },
  }
  const { findings } = await run(target, { seed: 7, count: 10, from: 3 })
  expect(findings).toMatchObject([{ target: 'sample', seed: 7, index: 3, input: '"!"' }])
})
