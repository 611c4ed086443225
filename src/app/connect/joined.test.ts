import { expect, test } from 'vitest'
import { pause } from '../../base/backoff.ts'
import type { CallOptions } from '../../client/options.ts'
import { Joined, type Read } from './joined.ts'

interface Begun {
  readonly wanted: readonly string[]
  readonly options: CallOptions
  readonly add: (found: string) => void
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/** Lists whose readings end when the test says so, or when the caller that began them aborts. */
function lists(): { readonly begun: Begun[]; readonly look: Look } {
  const joined = new Joined()
  const begun: Begun[] = []
  const read: Read = (wanted, options, add) =>
    new Promise((end, fail) => {
      options.signal?.addEventListener('abort', () => fail(new Error('aborted')))
      begun.push({ wanted: [...wanted], options, add, end, fail })
    })
  const look: Look = async (wanted, options = {}, list = 'list') => {
    const { found, error } = await joined.read(list, wanted, () => options, read)
    if (error !== undefined) throw error
    return wanted.filter((one) => found.has(one))
  }
  return { begun, look }
}

type Look = (wanted: readonly string[], options?: CallOptions, list?: string) => Promise<readonly string[]>

/** Waits until nothing more happens without the lists. */
const settled = (): Promise<void> => pause(20)

test('those who look for something at the same time share the reading', async () => {
  const { begun, look } = lists()
  const all = Promise.all([look(['a', 'b']), look(['c']), look([])])
  await settled()
  expect(begun.map(({ wanted }) => wanted)).toEqual([['a', 'b', 'c']])
  begun[0]?.add('b')
  const later = look(['c', 'b'])
  await settled()
  begun[0]?.end()
  expect(await all).toEqual([['b'], [], []])
  expect(await later).toEqual(['b'])
  expect(begun).toHaveLength(1)
})

test('those who look for something else later share the next reading', async () => {
  const { begun, look } = lists()
  const first = look(['a'])
  await settled()
  const all = Promise.all([look(['b']), look(['c', 'a']), look(['b'])])
  await settled()
  begun[0]?.end()
  await settled()
  expect(begun.map(({ wanted }) => wanted)).toEqual([['a'], ['b', 'c', 'a']])
  begun[1]?.add('c')
  begun[1]?.end()
  expect([await first, await all]).toEqual([[], [[], ['c'], []]])
  void look(['d'])
  await settled()
  expect(begun[2]?.wanted).toEqual(['d'])
})

test('other lists, and callers with another timeout, have readings of their own', async () => {
  const { begun, look } = lists()
  const all = Promise.all([look([]), look([], {}, 'other'), look([], { timeout: '5s' }), look([])])
  await settled()
  expect(begun.map(({ options }) => options.timeout)).toEqual([undefined, undefined, '5s'])
  for (const { end } of begun) end()
  await all
})

test('those who joined a reading that fails fail with it, and the next one is read again', async () => {
  const { begun, look } = lists()
  const all = Promise.allSettled([look(['a']), look(['a'])])
  await settled()
  begun[0]?.fail(new Error('broken'))
  for (const one of await all) expect(one).toMatchObject({ reason: { message: 'broken' } })
  const next = look(['a'])
  await settled()
  begun[1]?.end()
  expect(await next).toEqual([])
})

test('one who stops waiting does not end the reading, and the one that began it leaves the others theirs', async () => {
  const { begun, look } = lists()
  const [first, second] = [new AbortController(), new AbortController()]
  const reads = [look(['a'], { signal: first.signal }), look(['a'], { signal: second.signal }), look(['a'])]
  const all = Promise.allSettled(reads)
  await settled()
  second.abort()
  await expect(reads[1]).rejects.toMatchObject({ kind: 'cancelled' })
  expect(begun).toHaveLength(1)
  first.abort()
  await expect(reads[0]).rejects.toThrow('aborted')
  await settled()
  expect(begun).toHaveLength(2)
  begun[1]?.add('a')
  begun[1]?.end()
  expect((await all)[2]).toMatchObject({ value: ['a'] })
})

test('each waits no longer than its own total time, and not for that of another', async () => {
  const { begun, look } = lists()
  const long = look(['a'], { total: '1h' })
  await settled()
  await expect(look(['a'], { total: 1 })).rejects.toMatchObject({ kind: 'timeout' })
  begun[0]?.end()
  await long
  const out = look(['b'], { total: 0 })
  const other = look(['b'])
  await settled()
  begun[1]?.fail(new Error('timed out'))
  await expect(out).rejects.toThrow('timed out')
  await settled()
  begun[2]?.end()
  expect(await other).toEqual([])
})
