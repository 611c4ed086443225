import { expect, test } from 'vitest'
import { Intake } from './accept-queue.ts'

const onTime = { isLate: () => false }
const late = { isLate: () => true }
const FEW = 32

/** An intake whose clock the test moves. */
function make(pulse = onTime, maxMs = 300): { readonly intake: Intake; pass(ms: number): void } {
  let now = 1000
  const intake = new Intake({ pulse, maxMs, now: () => now })
  return { intake, pass: (ms) => void (now += ms) }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test('who is known is served at once, and so is a newcomer when none came just before', async () => {
  const { intake } = make()
  const [first, second] = [{}, {}]
  expect([intake.enter(first), intake.enter(first)]).toEqual([true, true])
  expect(intake.enter(second)).toBe(false)
  expect(intake.enter(second)).toBe(true)
  const rush = make()
  rush.intake.enter({})
  await turn()
  expect(rush.intake.enter({})).toBe(false)
  const calm = make()
  calm.intake.enter({})
  await turn()
  calm.pass(11)
  expect(calm.intake.enter({})).toBe(true)
})

test('whoever comes while others stand in line goes to its end', async () => {
  const { intake } = make()
  const served: string[] = []
  const known = {}
  intake.enter(known)
  intake.queue(() => served.push('first'))
  expect(intake.enter(known)).toBe(false)
  intake.queue(() => served.push('second'))
  await intake.emptied()
  expect(served).toEqual(['first', 'second'])
  expect(intake.enter(known)).toBe(true)
})

test('while the loop is late nobody is served out of turn', () => {
  const { intake } = make(late)
  const known = {}
  intake.enter(known)
  expect(intake.enter(known)).toBe(false)
})

/** A hundred in line, each of whom takes ten milliseconds; the order in which they are served, and who is told to be late. */
async function serveHundred(
  maxMs: number,
): Promise<readonly { readonly at: number; readonly isLate: boolean }[]> {
  const { intake, pass } = make(onTime, maxMs)
  const served: { readonly at: number; readonly isLate: boolean }[] = []
  for (let at = 0; at < 100; at++)
    intake.queue((isLate) => {
      served.push({ at, isLate })
      pass(isLate ? 0 : 10)
    })
  await intake.emptied()
  return served
}

test('a long line is served from its end, and those in front are told once they waited too long', async () => {
  const served = await serveHundred(300)
  const order = served.map(({ at }) => at)
  expect(order.slice(0, 13)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, 98])
  expect(order.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, at) => at))
  const told = served.filter(({ isLate }) => isLate)
  expect(told.length).toBeGreaterThan(20)
  expect(told.every(({ at }) => at < 70)).toBe(true)
  expect(served.slice(-FEW).every(({ isLate }) => !isLate)).toBe(true)
})

test('without a limit everybody is served in the order of coming', async () => {
  const served = await serveHundred(Number.POSITIVE_INFINITY)
  expect(served).toEqual(Array.from({ length: 100 }, (_, at) => ({ at, isLate: false })))
})
