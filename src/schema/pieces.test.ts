import { describe, expect, test } from 'vitest'
import { isLarge, Pieces } from './pieces.ts'
import { toPlace, type Place } from './place.ts'

const list = (length: number): readonly number[] => Array.from({ length }, (_, at) => at)

test('a value is large from 10,001 parts on, wherever they are', () => {
  expect([isLarge(list(10_000)), isLarge(list(10_001))]).toEqual([false, true])
  expect([isLarge([list(4999), list(4999)]), isLarge([list(4999), list(5000)])]).toEqual([false, true])
  expect([isLarge({ a: { b: list(9998) } }), isLarge({ a: { b: list(9999) } })]).toEqual([false, true])
  expect([isLarge('x'.repeat(20_000)), isLarge(null), isLarge(5)]).toEqual([false, false, false])
})

/** A place with these names at every level, where everything else is looked at too. */
function named(...names: readonly string[]): Place {
  const again = { $ref: '#' }
  return toPlace({
    properties: Object.fromEntries(names.map((name) => [name, again])),
    additionalProperties: again,
    items: again,
  })
}

/** The scalars of a value with their paths, as text. */
function leaves(
  value: unknown,
  place: (path: readonly PropertyKey[]) => readonly PropertyKey[],
): Set<string> {
  const found = new Set<string>()
  const visit = (part: unknown, path: readonly PropertyKey[]): void => {
    const below = typeof part === 'object' && part !== null ? Object.entries(part) : []
    if (below.length === 0) found.add(JSON.stringify([place(path), part]))
    for (const [name, each] of below) visit(each, [...path, Array.isArray(part) ? Number(name) : name])
  }
  visit(value, [])
  return found
}

describe('pieces', () => {
  const wide = Object.fromEntries(list(5000).map((at) => [`k${at}`, at]))
  let deep: object = { list: list(3000) }
  for (let level = 0; level < 40; level++)
    deep = { name: level, below: [deep, level], other: list(level * 30) }
  const values: readonly (readonly [string, object])[] = [
    ['a list', { list: list(12_345), kind: 'a' }],
    ['an object', { ...wide, kind: 'a' }],
    ['many lists', { lists: list(300).map((at) => list(at)) }],
    ['large lists in a list', { lists: list(12).map((at) => (at % 3 === 0 ? list(1500) : list(at))) }],
    ['empty ones', { lists: list(5000).map((at) => (at % 2 === 0 ? [] : {})) }],
    [
      'many large members',
      Object.fromEntries('abcdefghij'.split('').map((name) => [name, { list: list(1200) }])),
    ],
    ['levels', deep],
    [
      'names of every kind',
      JSON.parse(`{"__proto__":[${list(3000).join()}],"":{"constructor":1}}`) as object,
    ],
  ]

  test.each(values)('of %s have all its parts, each at its place, and are small', (_, value) => {
    const pieces = new Pieces(named('kind', 'name', 'other', 'a', 'b', '__proto__'))
    const missing = leaves(value, (path) => path)
    for (const piece of pieces.of(value)) {
      const there = leaves(piece, (path) => pieces.placeOf(piece, path).path)
      expect(there.size).toBeLessThanOrEqual(1200)
      for (const leaf of there) missing.delete(leaf)
    }
    expect([...missing]).toEqual([])
  })

  test('have no parts that are not in the value, and share none with it', () => {
    const value = { lists: [list(800), list(1800)], kind: ['a'] }
    const all = leaves(value, (path) => path)
    const pieces = new Pieces(named('kind'))
    for (const piece of pieces.of(value)) {
      for (const leaf of leaves(piece, (path) => pieces.placeOf(piece, path).path))
        expect(all).toContain(leaf)
      expect((piece as typeof value).kind).toEqual(['a'])
      expect((piece as typeof value).kind).not.toBe(value.kind)
    }
  })

  test('have what the schema names, larger ones with their beginning', () => {
    const pieces = new Pieces(named('kind', 'names', 'list'))
    const value = { list: list(2500), ...wide, names: list(1500), kind: { of: ['x'] } }
    for (const piece of pieces.of(value)) {
      expect(piece).toMatchObject({ kind: { of: ['x'] } })
      expect(Object.keys(piece)).toEqual(expect.arrayContaining(['list', 'names', 'kind']))
    }
  })

  test('know what is in them as it is in the value', () => {
    const pieces = new Pieces(named())
    const [first, second] = [...pieces.of({ rows: list(1500).map((id) => ({ id })), kind: 'a' })]
    const place = (path: readonly PropertyKey[]): unknown => pieces.placeOf(second, path)
    expect(first).toHaveProperty('rows.0', { id: 0 })
    expect(place(['rows', 0, 'id'])).toEqual({ path: ['rows', 500, 'id'], isWhole: true })
    expect(place(['rows', 0, 'none', 5])).toEqual({ path: ['rows', 500, 'none', 5], isWhole: true })
    expect(place(['rows', 0])).toEqual({ path: ['rows', 500], isWhole: true })
    for (const path of [[], ['rows'], ['kind'], ['rows', 700, 'id']])
      expect(place(path)).toEqual({ path, isWhole: false })
  })

  test('lack what the schema ignores, at any depth, and know that the rest is complete', () => {
    const row = { type: 'object', properties: { id: { type: 'number' }, note: { type: 'string' } } }
    const pieces = new Pieces(
      toPlace({ type: 'object', properties: { rows: { type: 'array', items: row } } }),
    )
    const junk = list(5000)
    const rows = list(1500).map((id) => ({ id, junk: id === 700 ? junk : id }))
    const all = [...pieces.of({ junk, rows, more: wide })]
    expect(JSON.stringify(all)).not.toMatch(/junk|more|k1/)
    expect(all.flatMap((piece) => (piece as { rows: unknown[] }).rows)).toEqual(
      list(1500).map((id) => ({ id })),
    )
    const place = (path: readonly PropertyKey[]): unknown => pieces.placeOf(all[1], path)
    const moved = (all[0] as { rows: unknown[] }).rows.length
    for (const name of ['id', 'note'])
      expect(place(['rows', 0, name])).toEqual({ path: ['rows', moved, name], isWhole: true })
    expect(place(['rows', 0])).toEqual({ path: ['rows', moved], isWhole: false })
  })

  test('have the names of members that the schema rejects, without their values', () => {
    const closed = toPlace({ type: 'object', properties: { a: {} }, additionalProperties: false })
    const value = { a: list(900), ...wide, more: list(3000) }
    const names = [...new Pieces(closed).of(value)].flatMap((piece) => Object.entries(piece))
    expect(names).toContainEqual(['more', null])
    expect(new Set(names.map(([name]) => name))).toEqual(new Set(Object.keys(value)))
  })

  test('are none if the schema looks at little', () => {
    const place = toPlace({ type: 'object', properties: { a: { type: 'string' } } })
    expect([...new Pieces(place).of({ a: 'x', ...wide, junk: { wide } })]).toEqual([])
  })
})
