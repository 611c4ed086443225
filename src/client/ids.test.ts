import { expect, test } from 'vitest'
import { Ids } from './ids.ts'

test('no id is given out while it is pending, even when counting begins anew [S2-1.2-3]', () => {
  const ids = new Ids(3)
  const first = [ids.next(), ids.next(), ids.next()]
  expect(first).toEqual([1, 2, 3])
  expect(ids.spent).toBe(true)
  ids.begin(1, undefined)
  ids.begin(2, undefined)
  ids.restart()
  expect(ids.spent).toBe(false)
  expect(ids.next()).toBe(3)
  ids.end(1)
  ids.restart()
  expect(ids.next()).toBe(1)
})

test('progress is told under the id of the request that waits for it, and no other', () => {
  const ids = new Ids(10)
  const told: unknown[] = []
  const id = ids.next()
  ids.begin(id, ({ progress }) => told.push(progress))
  for (const progressToken of [id, id + 1, String(id), null]) ids.progress({ progressToken, progress: 1 })
  ids.progress({ progressToken: id, progress: 'much' })
  ids.end(id)
  ids.progress({ progressToken: id, progress: 2 })
  expect(told).toEqual([1])
})
