import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { textBytes, weigh, weighKept } from './weight.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The bytes that a parsed text takes, and what they are estimated to be. */
function measure(text: string): { readonly taken: number; readonly weight: number } {
  // Parsing once before creates what does not belong to the value.
  JSON.parse(text)
  collect()
  const before = process.memoryUsage().heapUsed
  const value: unknown = JSON.parse(text)
  collect()
  const taken = process.memoryUsage().heapUsed - before
  return { taken, weight: weigh(value) }
}

const COUNT = 10_000
const list = (item: (at: number) => string): string =>
  `[${Array.from({ length: COUNT }, (_, at) => item(1_000_000 + at)).join()}]`
const object = (member: (at: number) => string): string =>
  `{${Array.from({ length: COUNT }, (_, at) => member(1_000_000 + at)).join()}}`

describe('a value takes no more than it weighs, within a third:', () => {
  test.each([
    ['empty objects', list(() => '{}')],
    ['empty lists', list(() => '[]')],
    ['lists in lists', list(() => '[[]]')],
    ['short lists', list((at) => `[${at}]`)],
    ['numbers', list((at) => `${at}.5`)],
    ['numbers among strings', list((at) => (at % 2 === 0 ? '1.5' : '""'))],
    ['short strings', list((at) => `"${at}"`)],
    ['short strings beyond Latin-1', list((at) => `"€${at}"`)],
    ['objects with the same names', list((at) => `{"a":${at},"b":"${at}"}`)],
    ['objects with other names', list((at) => `{"a${at}":1,"b${at}":1,"c${at}":1}`)],
    ['objects with one name each', list((at) => `{"a${at}":1}`)],
    ['objects with numbers as names', list((at) => `{"${at}":1}`)],
    ['many names', object((at) => `"a${at}":1`)],
    ['many names of objects', object((at) => `"a${at}":{}`)],
    ['a long string', `["${'x'.repeat(8_000_000)}"]`],
    ['a long string with one character beyond Latin-1', `["€${'x'.repeat(8_000_000)}"]`],
  ])('%s', (_, text) => {
    const { taken, weight } = measure(text)
    expect(taken / weight).toBeLessThan(4 / 3)
    expect(weight).toBeLessThan(text.length * 64)
  })
})

test('a string weighs two bytes per character if one of them is beyond Latin-1', () => {
  expect([
    textBytes(''),
    textBytes('abc\0'),
    textBytes('é\u00ff'),
    textBytes('ab€'),
    textBytes('😀'),
  ]).toEqual([0, 4, 2, 6, 4])
})

test('values weigh what they contain', () => {
  expect([null, true, 1.5, undefined, 'abc'].map((value) => weigh(value))).toEqual([24, 24, 24, 24, 27])
  expect([weigh({}), weigh([]), weigh([1, [2]]), weigh({ ab: 'c' })]).toEqual([64, 64, 176, 139])
  expect([weigh({ '€': 1 }), weigh({ 1: 1 })]).toEqual([138, 201])
})

test('weighing a value that is kept leaves nothing behind in the engine, which remembers the names that a loop reads from an object', () => {
  let next = 1_000_000
  const fresh = (): unknown => JSON.parse(list(() => `{"a${next}":{"b${next++}":1}}`))
  /** The bytes that stay after a function has seen new objects. */
  const left = (see: (value: unknown) => void): number => {
    const value = fresh()
    collect()
    const before = process.memoryUsage().heapUsed
    see(value)
    collect()
    return process.memoryUsage().heapUsed - before
  }
  const looped = left((value) => (value as object[]).forEach((one) => Object.keys(one)))
  expect(left((value) => weighKept(value))).toBeLessThan(looped / 2)
  const value = fresh()
  expect(weighKept(value)).toBe(weigh(value))
  expect(weighKept(value, 100)).toBe(100)
})

test('the names of an object are read once, since that takes the longest', () => {
  let reads = 0
  const value = new Proxy({ a: 1, b: 2 }, { ownKeys: (at) => (reads++, Reflect.ownKeys(at)) })
  expect(weigh(value)).toBe(weigh({ a: 1, b: 2 }))
  expect(reads).toBe(1)
})

test('nesting may be as deep as memory allows', () => {
  let value: unknown[] = []
  for (let level = 1; level < 100_000; level++) value = [value]
  expect(weigh(value)).toBe(6_400_000)
})

test('weighing stops at the most, even where a value contains itself', () => {
  const nodes: { parent?: unknown }[] = Array.from({ length: 300 }, () => ({}))
  for (const node of nodes) node.parent = nodes
  expect([weigh(nodes, 5000), weigh('x'.repeat(100), 10), weigh('x', 100)]).toEqual([5000, 10, 25])
})

const copyOf = (value: object): object => {
  if (Array.isArray(value)) return value.map((item) => copyOf(item as object))
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) copy[name] = item
  return copy
}

/** The bytes that a copy takes, which is made as schemas do: member by member. */
function measureCopy(names: readonly number[]): { readonly taken: number; readonly weight: number } {
  const member = `{${names.map((name) => `"${name}":1`).join()}}`
  const value = JSON.parse(
    `[${Array.from({ length: Math.max(100, 3000 / names.length) }, () => member).join()}]`,
  ) as object
  copyOf(value)
  collect()
  const before = process.memoryUsage().heapUsed
  const copy = copyOf(value)
  collect()
  const taken = process.memoryUsage().heapUsed - before
  return { taken, weight: weigh(copy, Infinity, true) }
}

describe('a copy takes no more than it weighs, within a third, if its names are numbers:', () => {
  const every = (step: number, count: number, first = 0): readonly number[] =>
    Array.from({ length: count }, (_, at) => first + at * step)
  test.each([
    ['0', [0]],
    ['320', [320]],
    ['1023', [1023]],
    ['1024', [1024]],
    ['1023 and 2500', [1023, 2500]],
    ['1023, 2500 and 3200', [1023, 2500, 3200]],
    ['1023, 2500 and 3700', [1023, 2500, 3700]],
    ['2024', [2024]],
    ['two large ones', [99_999_999, 999_999_991]],
    ['ten in order', every(1, 10)],
    ['many large ones', every(10_000, 86, 99_999_999)],
    ['every seventh', every(7, 700)],
    ['every fifth', every(5, 1500)],
    ['every ninth', every(9, 1000)],
    ['every eleventh', every(11, 690)],
    ['every twentieth', every(20, 240)],
  ])('%s', (_, names) => {
    const { taken, weight } = measureCopy(names)
    expect(taken / weight).toBeLessThan(4 / 3)
  })
})

test('what a schema makes of arguments weighs what is in it', () => {
  const texts = Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(1000, 'x'))
  for (const value of [new Set(texts), new Map(texts.map((text) => [text, 1])), new Uint8Array(100_000)])
    expect(weigh([value], Infinity, true)).toBeGreaterThan(100_000)
  expect(weigh(new Uint8Array(100_000), Infinity, true)).toBeLessThan(110_000)
})
