import { expect, test } from 'vitest'
import { pause } from '../base/backoff.ts'
import { fewAtOnce } from './few-at-once.ts'

test('a few items are done at once, and their answers are in order', async () => {
  let [now, most] = [0, 0]
  const answers = await fewAtOnce([5, 1, 4, 1, 5, 9], 3, async (ms) => {
    most = Math.max(most, ++now)
    await pause(ms)
    now--
    return ms * 2
  })
  expect(answers).toEqual([10, 2, 8, 2, 10, 18])
  expect(most).toBe(3)
  expect(await fewAtOnce([], 3, () => Promise.resolve(1))).toEqual([])
})

test('after a failure, no further item begins', async () => {
  const begun: number[] = []
  const done = fewAtOnce([1, 2, 3, 4], 2, async (item) => {
    begun.push(item)
    await Promise.resolve()
    if (item === 1) throw new Error('broken')
    await pause(1)
  })
  await expect(done).rejects.toThrow('broken')
  await pause(5)
  expect(begun).toEqual([1, 2])
})
