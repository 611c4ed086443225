import { expect, test } from 'vitest'
import { explain } from './explain.ts'
import { startCounting, workDone } from './work.ts'

const GENERAL = [{ path: [], problem: 'does not match the schema' }]

/** An object of so many numbers, of which the last must be a string. */
function lastIsWrong(count: number): readonly [schema: object, value: object] {
  const names = Array.from({ length: count }, (_, at) => `p${at + 1}`)
  const properties = names.map((name, at) => [name, { type: at + 1 === count ? 'string' : 'number' }])
  return [
    { type: 'object', properties: Object.fromEntries(properties) },
    Object.fromEntries(names.map((name) => [name, 1])),
  ]
}

test('the search looks at 2000 places and no further', () => {
  expect(explain(...lastIsWrong(1999))).toMatchObject([{ path: ['p1999'] }])
  expect(explain(...lastIsWrong(2000))).toEqual(GENERAL)
})

test('the same holds for the items of a list', () => {
  const schema = { type: 'array', items: { type: 'number' } }
  const numbers = Array.from({ length: 1998 }, () => 1)
  expect(explain(schema, [...numbers, 'x'])).toMatchObject([{ path: [1998] }])
  expect(explain(schema, [...numbers, 1, 'x'])).toEqual(GENERAL)
})

test('an item of a list is not compared with each value of a long enum', () => {
  const work = (count: number): number => {
    const values = Array.from({ length: count }, (_, at) => `value ${at}`)
    const list = Array.from({ length: 1400 }, () => values.at(-1))
    startCounting()
    const issues = explain({ type: 'array', items: { enum: values } }, [...list, 'value'])
    expect(issues).toMatchObject([{ path: [1400], problem: expect.stringContaining('expected one of') }])
    return workDone()
  }
  expect(work(4000)).toBe(work(40))
})

test('what would fit a shape that was not tried is not said to fit none', () => {
  // Each number takes three places: itself, and a try of either shape.
  const schema = { type: 'array', items: { anyOf: [{ type: 'boolean' }, { type: 'number' }] } }
  const numbers = Array.from({ length: 665 }, () => 1)
  expect(explain(schema, [...numbers, 'x'])[0]).toMatchObject({
    path: [665],
    problem: expect.stringContaining('none of the 2'),
  })
  for (const more of [[1], [1, 1], [1, 1, 1], [1, 'x'], [1, true, 'x'], [true, true, 1, 'x']])
    expect(explain(schema, [...numbers, ...more])).toEqual(GENERAL)
})

test('a schema that refers to itself without end is given up', () => {
  expect(explain({ $ref: '#' }, 1)).toEqual(GENERAL)
})

test('three reasons are enough: nothing is looked at after them', () => {
  const looked: string[] = []
  const value = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [
      name,
      Object.defineProperty({}, 'x', { enumerable: true, get: () => looked.push(name) }),
    ]),
  )
  const inner = { type: 'object', properties: { x: { type: 'string' } } }
  const schema = { type: 'object', properties: { a: inner, b: inner, c: inner, d: inner } }
  expect(explain(schema, value).map(({ path }) => path)).toEqual([
    ['a', 'x'],
    ['b', 'x'],
    ['c', 'x'],
  ])
  expect(new Set(looked)).toEqual(new Set(['a', 'b', 'c']))
})

test('what everything fits has no reasons of its own', () => {
  const schema = { type: 'object', properties: { a: true, b: false } }
  expect(explain(schema, { a: 1, b: 1 })).toEqual([{ path: ['b'], problem: 'is not allowed' }])
})
