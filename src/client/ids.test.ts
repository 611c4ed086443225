import { expect, test } from 'vitest'
import { Ids } from './ids.ts'

test('a pending id is not reused, even after a restart [S2-1.2-3]', () => {
  const ids = new Ids(3)
  const first = [ids.next(), ids.next(), ids.next()]
  expect(first).toEqual([1, 2, 3])
  expect(ids.exhausted).toBe(true)
  ids.begin(1, undefined)
  ids.begin(2, undefined)
  ids.restart()
  expect(ids.exhausted).toBe(false)
  expect(ids.next()).toBe(3)
  ids.end(1)
  ids.restart()
  expect(ids.next()).toBe(1)
})

test('progress reaches only the pending request with that id', () => {
  const ids = new Ids(10)
  const reported: unknown[] = []
  const id = ids.next()
  ids.begin(id, ({ progress }) => reported.push(progress))
  for (const progressToken of [id, id + 1, String(id), null]) ids.progress({ progressToken, progress: 1 })
  ids.progress({ progressToken: id, progress: 'much' })
  ids.end(id)
  ids.progress({ progressToken: id, progress: 2 })
  expect(reported).toEqual([1])
})

test('of a task that nobody follows yet, the beginning of the latest message is kept', () => {
  const ids = new Ids(10)
  const reported: unknown[] = []
  ids.end(1, true)
  ids.progress({
    progressToken: 1,
    progress: 1,
    message: 'x'.repeat(1_000_000),
    other: 'y'.repeat(1_000_000),
  })
  ids.begin(1, (params) => reported.push(params))
  expect(reported).toEqual([{ progress: 1, message: 'x'.repeat(16_384) }])
})

test('of progress, only the members that it can have are copied', () => {
  const ids = new Ids(10)
  const reported: unknown[] = []
  ids.begin(1, (params) => reported.push(params))
  const _meta = { part: 1 }
  ids.progress({ progressToken: 1, progress: 1, total: 2, message: 'half', _meta, other: 1, 7: 1 })
  ids.progress({ progressToken: 1, progress: 2, total: '2', message: 1, _meta: 'x' })
  expect(reported).toEqual([{ progress: 1, total: 2, message: 'half', _meta }, { progress: 2 }])
})
