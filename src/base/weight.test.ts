import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { textBytes, weigh } from './weight.ts'

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
