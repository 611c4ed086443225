import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import { Steps } from './steps.ts'

test('steps are taken one after the other, and repeated while the store is away', async () => {
  const taken: string[] = []
  const problems: unknown[] = []
  const steps = new Steps((error) => problems.push(error))
  let failures = 2
  steps.add(async () => {
    taken.push('first')
    if (failures-- > 0) throw mcpError(OVERLOADED, {})
  })
  steps.add(() => taken.push('second'))
  expect(steps.size).toBe(2)
  await steps.done()
  expect(taken).toEqual(['first', 'first', 'first', 'second'])
  expect([problems, steps.size]).toEqual([[], 0])
})

test('a step that cannot succeed is reported and left out', async () => {
  const problems: unknown[] = []
  const steps = new Steps((error) => problems.push(error))
  const broken = new TypeError('broken')
  let isDone = false
  steps.add(() => {
    throw broken
  })
  steps.add(() => (isDone = true))
  await steps.done()
  expect([problems, isDone]).toEqual([[broken], true])
})

test('the first step is taken at once', () => {
  let isDone = false
  new Steps(() => undefined).add(() => (isDone = true))
  expect(isDone).toBe(true)
})

test('nothing more is done after stop, and clear leaves out what has not begun', async () => {
  const taken: string[] = []
  const steps = new Steps(() => undefined)
  let finish: () => void = () => undefined
  steps.add(() => new Promise<void>((resolve) => (finish = resolve)))
  steps.add(() => taken.push('cleared'))
  steps.clear()
  steps.add(() => taken.push('kept'))
  finish()
  await steps.done()
  steps.add(() => {
    throw mcpError(OVERLOADED, {})
  })
  steps.add(() => taken.push('stopped'))
  steps.stop()
  await steps.done()
  steps.add(() => taken.push('late'))
  expect(taken).toEqual(['kept'])
})

test('steps go on if the report of an error fails', async () => {
  let isDone = false
  const steps = new Steps(() => {
    throw new Error('nobody listens')
  })
  steps.add(() => {
    throw new TypeError('broken')
  })
  await steps.done()
  steps.add(() => (isDone = true))
  await steps.done()
  expect([isDone, steps.size]).toEqual([true, 0])
})

test('a step that has not begun can be left out', async () => {
  const taken: string[] = []
  const steps = new Steps(() => undefined)
  let finish: () => void = () => undefined
  const first = (): Promise<void> => new Promise((resolve) => (finish = resolve))
  const second = (): unknown => taken.push('second')
  steps.add(first)
  steps.add(second)
  steps.add(() => taken.push('third'))
  expect([first, second, second].map((step) => steps.remove(step))).toEqual([false, true, false])
  finish()
  await steps.done()
  expect(taken).toEqual(['third'])
})

test('whoever waits for the steps so far does not wait for later ones, nor for those after an end', async () => {
  const steps = new Steps(() => undefined)
  await steps.reached()
  const finish: (() => void)[] = []
  const slow = (): Promise<void> => new Promise((resolve) => void finish.push(resolve))
  steps.add(slow)
  const reached = steps.reached()
  steps.add(slow)
  finish[0]?.()
  await reached
  expect(steps.size).toBe(1)
  const ended = steps.reached()
  steps.stop()
  await ended
  await steps.reached()
})

test('steps that wait for nothing keep nothing to end a wait with', async () => {
  const count = (): number => queryObjects(AbortController, { format: 'count' })
  const before = count()
  const all = Array.from({ length: 100 }, () => new Steps(() => undefined))
  for (const steps of all) steps.add(() => undefined)
  await Promise.all(all.map((steps) => steps.done()))
  expect(count() - before).toBeLessThan(10)
  all.forEach((steps) => steps.stop())
})
