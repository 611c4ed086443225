import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toLimits } from '../base/limits.ts'
import type { Context } from './context.ts'
import type { Item } from './definitions.ts'
import { List } from './lists.ts'

const HOUR = 3_600_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000 * HOUR }))
afterEach(() => void vi.useRealTimers())

/** A caller who sees the items with these keys, and asks for the page at a cursor. */
function caller(sees: readonly string[] = [], cursor?: unknown): Context {
  return { sees, params: { cursor } } as unknown as Context
}

function item(key: string, place: number): Item {
  return { key, place, descriptor: { name: key }, visible: undefined, scopes: undefined, spec: {} }
}

/** An item that only those see who name it. */
function guarded(key: string, place: number): Item {
  const visible = (context: Context): boolean =>
    (context as unknown as { sees: readonly string[] }).sees.includes(key)
  return { ...item(key, place), visible }
}

function list(...items: readonly Item[]): List<Item> {
  const made = new List('tools', { pageSize: 2, ttlMs: 0, limits: toLimits({ cursorMs: HOUR }) })
  for (const each of items) made.add(each)
  return made
}

test('a page is the same object until the list changes or its cursor would get too old', () => {
  const tools = list(item('a', 1), item('b', 2), item('c', 3))
  const first = tools.page(caller())
  const second = tools.page(caller([], first['nextCursor']))
  vi.setSystemTime(1_001 * HOUR - 1)
  expect(tools.page(caller())).toBe(first)
  expect(tools.page(caller([], first['nextCursor']))).toBe(second)
  vi.setSystemTime(1_001 * HOUR)
  const later = tools.page(caller())
  expect(later).not.toBe(first)
  expect(tools.page(caller())).toBe(later)
  tools.add(item('d', 4))
  expect(tools.page(caller([], later['nextCursor']))).toMatchObject({ tools: [{ name: 'c' }, { name: 'd' }] })
  expect(tools.remove('nobody')).toBe(false)
  const changed = tools.page(caller())
  expect(changed).not.toBe(later)
  expect(tools.remove('a')).toBe(true)
  expect(tools.page(caller())).toMatchObject({ tools: [{ name: 'b' }, { name: 'c' }] })
})

test('callers share a page when they see the same items, and only then', () => {
  const tools = list(item('a', 1), guarded('b', 2))
  const everybody = tools.page(caller())
  const some = tools.page(caller(['b']))
  expect(everybody).toMatchObject({ tools: [{ name: 'a' }], cacheScope: 'private' })
  expect(some).toMatchObject({ tools: [{ name: 'a' }, { name: 'b' }] })
  expect([tools.page(caller(['x'])), tools.page(caller(['b', 'x']))]).toEqual([everybody, some])
  expect(tools.page(caller(['x']))).toBe(everybody)
  expect(tools.page(caller(['x']), true)).not.toBe(everybody)
  tools.remove('a')
  tools.add(guarded('c', 3))
  expect(tools.page(caller(['c']))).toMatchObject({ tools: [{ name: 'c' }] })
  expect(tools.page(caller())).toMatchObject({ tools: [] })
})

test('256 pages are kept and no more, however many ways there are to see the list', () => {
  const keys = Array.from({ length: 9 }, (_, at) => `t${at}`)
  const tools = list(...keys.map((key, at) => guarded(key, at + 1)))
  const viewer = (nth: number): Context => caller(keys.filter((_, at) => (nth & (1 << at)) !== 0))
  const page = tools.page(viewer(0))
  for (let nth = 1; nth < 256; nth++) tools.page(viewer(nth))
  expect(tools.page(viewer(0))).toBe(page)
  tools.page(viewer(256))
  expect(tools.page(viewer(0))).not.toBe(page)
})

test('a page that begins where no page before it ends is not kept', () => {
  const tools = list(...[1, 2, 3, 4, 5].map((place) => item(`t${place}`, place)))
  const cursor = tools.page(caller())['nextCursor'] as string
  const [, place, age] = atob(cursor).split(':')
  expect(place).toBe('2')
  const odd = btoa(['tools', '1', age].join(':')).replace(/=+$/, '')
  const page = tools.page(caller([], odd))
  expect(page).toMatchObject({ tools: [{ name: 't2' }, { name: 't3' }] })
  expect(tools.page(caller([], odd))).not.toBe(page)
  expect(tools.page(caller([], cursor))).toBe(tools.page(caller([], cursor)))
})

test('a disabled item returns to its place, and a replaced one keeps it', () => {
  const tools = list(item('a', 1), item('b', 2), item('c', 3))
  const names = (): readonly unknown[] => [...tools.items.keys()]
  const first = tools.page(caller())
  const cursor = first['nextCursor']
  expect([tools.disable('b'), tools.disable('b'), tools.disable('nobody')]).toEqual([true, false, false])
  expect(names()).toEqual(['a', 'c'])
  expect(tools.find('b', caller())).toBeUndefined()
  expect(tools.page(caller())).toMatchObject({ tools: [{ name: 'a' }, { name: 'c' }] })
  expect([tools.enable('b'), tools.enable('b'), tools.enable('nobody')]).toEqual([true, false, false])
  expect(names()).toEqual(['a', 'b', 'c'])
  tools.replace({ ...item('b', 2), descriptor: { name: 'b', title: 'new' } })
  expect(tools.page(caller())).toMatchObject({ tools: [{ name: 'a' }, { title: 'new' }] })
  tools.disable('c')
  expect(tools.page(caller([], cursor))).toMatchObject({ tools: [] })
  tools.replace({ ...item('c', 3), descriptor: { name: 'c', title: 'new' } })
  expect(names()).toEqual(['a', 'b'])
  tools.enable('c')
  expect(tools.page(caller([], cursor))).toMatchObject({ tools: [{ title: 'new' }] })
  tools.disable('c')
  expect([tools.remove('c'), tools.enable('c')]).toEqual([true, false])
})

test('what changes every item changes those that are enabled or replaced later, once', () => {
  const tools = list(item('a', 1), item('b', 2))
  tools.disable('b')
  const mark = (one: Item): Item => ({
    ...one,
    descriptor: { ...one.descriptor, marks: [one.descriptor['marks']] },
  })
  tools.transformAll(mark)
  tools.enable('b')
  tools.replace(item('a', 1))
  tools.refresh('a')
  const marked = { marks: [undefined] }
  expect(tools.page(caller())['tools']).toEqual([
    { name: 'a', ...marked },
    { name: 'b', ...marked },
  ])
})

test('pages that only some callers see are cached up to a number of characters', () => {
  const long = { ...item('long', 1), descriptor: { name: 'long', description: 'x'.repeat(1_000_000) } }
  const guards = ['a', 'b', 'c', 'd'].map((key, at) => guarded(key, at + 2))
  const made = new List('tools', { pageSize: 9, ttlMs: 0, limits: toLimits({ cursorMs: HOUR }) })
  for (const each of [long, ...guards]) made.add(each)
  const views = [[], ['a'], ['b'], ['c'], ['d'], ['a', 'b']].map((sees) => caller(sees))
  const first = made.page(views[0]!)
  expect(made.page(views[0]!)).toBe(first)
  for (const view of views) made.page(view)
  expect(made.page(views[0]!)).not.toBe(first)
  const last = made.page(views[5]!)
  expect(made.page(views[5]!)).toBe(last)
})
