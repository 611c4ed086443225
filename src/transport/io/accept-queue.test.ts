import { expect, test } from 'vitest'
import { AcceptQueue } from './accept-queue.ts'

const onTime = { isLate: () => false }
const late = { isLate: () => true }
const FEW = 32

/** An `AcceptQueue` whose clock the test controls. */
function make(
  loopMonitor = onTime,
  maxMs = 300,
): { readonly acceptQueue: AcceptQueue; pass(ms: number): void } {
  let now = 1000
  const acceptQueue = new AcceptQueue({ loopMonitor, maxMs, now: () => now })
  return { acceptQueue, pass: (ms) => void (now += ms) }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test('known connections are served at once, and so is a new one outside a burst', async () => {
  const { acceptQueue } = make()
  const [first, second] = [{}, {}]
  expect([acceptQueue.enter(first), acceptQueue.enter(first)]).toEqual([true, true])
  expect(acceptQueue.enter(second)).toBe(false)
  expect(acceptQueue.enter(second)).toBe(true)
  const rush = make()
  rush.acceptQueue.enter({})
  await turn()
  expect(rush.acceptQueue.enter({})).toBe(false)
  const calm = make()
  calm.acceptQueue.enter({})
  await turn()
  calm.pass(11)
  expect(calm.acceptQueue.enter({})).toBe(true)
})

test('a request that arrives while others are queued goes to the end', async () => {
  const { acceptQueue } = make()
  const served: string[] = []
  const known = {}
  acceptQueue.enter(known)
  acceptQueue.queue(() => served.push('first'))
  expect(acceptQueue.enter(known)).toBe(false)
  acceptQueue.queue(() => served.push('second'))
  await acceptQueue.emptied()
  expect(served).toEqual(['first', 'second'])
  expect(acceptQueue.enter(known)).toBe(true)
})

test('while the event loop lags, requests are served in turn', () => {
  const { acceptQueue } = make(late)
  const known = {}
  acceptQueue.enter(known)
  expect(acceptQueue.enter(known)).toBe(false)
})

/** Queues a hundred requests of ten milliseconds each; returns the order in which they are served, and which are late. */
async function serveHundred(
  maxMs: number,
): Promise<readonly { readonly at: number; readonly isLate: boolean }[]> {
  const { acceptQueue, pass } = make(onTime, maxMs)
  const served: { readonly at: number; readonly isLate: boolean }[] = []
  for (let at = 0; at < 100; at++)
    acceptQueue.queue((isLate) => {
      served.push({ at, isLate })
      pass(isLate ? 0 : 10)
    })
  await acceptQueue.emptied()
  return served
}

test('a long queue is served from its end, and the oldest requests are late once they waited too long', async () => {
  const served = await serveHundred(300)
  const order = served.map(({ at }) => at)
  expect(order.slice(0, 13)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, 98])
  expect(order.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, at) => at))
  const told = served.filter(({ isLate }) => isLate)
  expect(told.length).toBeGreaterThan(20)
  expect(told.every(({ at }) => at < 70)).toBe(true)
  expect(served.slice(-FEW).every(({ isLate }) => !isLate)).toBe(true)
})

test('without a limit requests are served in order of arrival', async () => {
  const served = await serveHundred(Number.POSITIVE_INFINITY)
  expect(served).toEqual(Array.from({ length: 100 }, (_, at) => ({ at, isLate: false })))
})
