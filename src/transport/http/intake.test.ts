import { expect, test } from 'vitest'
import { Intake } from './intake.ts'
import type { Pulse } from './pulse.ts'

const onTime = { isLate: () => false } as Pulse
const late = { isLate: () => true } as Pulse
const FEW = 32
const socket = (): { destroyed: boolean } => ({ destroyed: false })

/** Waits until so many were served. */
async function until(served: readonly unknown[], count: number): Promise<void> {
  while (served.length < count) await new Promise((resolve) => setImmediate(resolve))
}

test('who is known is served at once, and so is a newcomer when none came just before', async () => {
  const intake = new Intake(onTime, 300)
  const [first, second] = [socket(), socket()]
  expect([intake.isFree(first), intake.isFree(first)]).toEqual([true, true])
  expect(intake.isFree(second)).toBe(false)
  expect(intake.isFree(second)).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(intake.isFree(socket())).toBe(true)
})

test('whoever comes while others stand in line goes to its end', async () => {
  const intake = new Intake(onTime, 300)
  const served: string[] = []
  const known = socket()
  intake.isFree(known)
  intake.queue(socket(), () => served.push('first'))
  expect(intake.isFree(known)).toBe(false)
  intake.queue(known, () => served.push('second'))
  await until(served, 2)
  expect(served).toEqual(['first', 'second'])
  expect(intake.isFree(known)).toBe(true)
})

test('while the loop is late nobody is served out of turn', () => {
  const intake = new Intake(late, 300)
  const known = socket()
  intake.isFree(known)
  expect(intake.isFree(known)).toBe(false)
})

test('a long line is served from its end, and those in front are told once they waited too long', async () => {
  const intake = new Intake(onTime, 300)
  const served: { readonly at: number; readonly waitedMs: number }[] = []
  const gone = socket()
  intake.queue(gone, (waitedMs) => served.push({ at: Number.NaN, waitedMs }))
  for (let at = 0; at < 100; at++) {
    intake.queue(socket(), (waitedMs) => {
      served.push({ at, waitedMs })
      const until = performance.now() + (waitedMs === 0 ? 10 : 0)
      while (performance.now() < until);
    })
  }
  gone.destroyed = true
  await until(served, 100)
  const order = served.map(({ at }) => at)
  expect(order.slice(0, 5)).toEqual([0, 1, 2, 3, 4])
  expect(order.indexOf(99)).toBeLessThan(30)
  expect(order.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, at) => at))
  const told = served.filter(({ waitedMs }) => waitedMs > 0)
  expect(told.length).toBeGreaterThan(20)
  for (const { at, waitedMs } of told) expect([at < 70, waitedMs > 300]).toEqual([true, true])
  expect(served.slice(-FEW).every(({ waitedMs }) => waitedMs === 0)).toBe(true)
})
