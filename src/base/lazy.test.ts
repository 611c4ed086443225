import { expect, test } from 'vitest'
import { lazy } from './lazy.ts'

test('what is loaded is loaded once, when it is first asked for, and then there at once', async () => {
  let loads = 0
  const get = lazy(async () => ({ loads: ++loads }))
  expect(loads).toBe(0)
  const [first, second] = await Promise.all([get(), get()])
  expect(first).toBe(second)
  expect(get()).toBe(first)
  expect(loads).toBe(1)
})

test('those who ask while it is being loaded are served in the order in which they asked', async () => {
  let arrive = (): void => undefined
  const get = lazy(() => new Promise<string>((resolve) => (arrive = () => resolve('here'))))
  const order: number[] = []
  const asked = [1, 2].map(async (number) => {
    await get()
    order.push(number)
  })
  arrive()
  await Promise.all(asked)
  expect(order).toEqual([1, 2])
})

test('a failure is not remembered', async () => {
  let fails = true
  const get = lazy(async () => {
    if (fails) throw new Error('not now')
    return 'here'
  })
  await expect(get()).rejects.toThrow('not now')
  fails = false
  expect(await get()).toBe('here')
})
