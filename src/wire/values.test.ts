import fc from 'fast-check'
import { expect, test } from 'vitest'
import { processorMs } from '../../test/harness/processor.ts'
import { checkValues, hasTooMany } from './values.ts'

const FREE = { keys: Infinity, containers: Infinity }
const exceedsValues = (text: string, values: number): boolean => hasTooMany(text, { values, ...FREE })

/** How many values a text without duplicate keys has. */
function valuesOf(text: string): number {
  let count = 0
  JSON.parse(text, (_, value: unknown) => (count++, value))
  return count
}

test('the values of any text are counted exactly, however it is spaced', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, undefined, space)
      const values = valuesOf(text)
      expect([exceedsValues(text, values - 1), exceedsValues(text, values)]).toEqual([true, false])
    }),
  )
})

test.each([
  ['0', 1],
  ['[]', 1],
  ['{ }', 1],
  ['[0]', 2],
  ['[[],[]]', 3],
  ['[[[[]]]]', 4],
  ['[0,0,0,0]', 5],
  ['{"a":{},"b":[ \n ]}', 3],
  ['["a,b","[{","\\",",""]', 5],
  ['{"[,]":[{"{":1}]}', 4],
])('%s has %i values', (text, values) => {
  expect(valuesOf(text)).toBe(values)
  expect(() => checkValues(text, { values, ...FREE })).not.toThrow()
  expect(() => checkValues(text, { values: values - 1, ...FREE })).toThrow(
    expect.objectContaining({
      kind: 'too_many_values',
      message: `the message has more than ${values - 1} values`,
    }),
  )
})

test.each([0, 31, 32, 33, 34, 100])('values and members with %i spaces between them are counted', (count) => {
  const far = (text: string): string => text.replaceAll('_', ' '.repeat(count))
  const text = far('_{_"a,:[{"_:_[_1_,_{_}_,_"x"_]_,_"b"_:_[_]_,_"c"_:_-1.5_}_')
  const values = valuesOf(text)
  expect([exceedsValues(text, values - 1), exceedsValues(text, values)]).toEqual([true, false])
  expect(() => checkValues(text, { values, ...FREE, keys: 3 })).not.toThrow()
  expect(() => checkValues(text, { values, ...FREE, keys: 2 })).toThrow(
    expect.objectContaining({ kind: 'too_many_keys' }),
  )
})

test('no text has more values than its length allows, and infinitely many are allowed', () => {
  for (const count of [1, 2, 50]) {
    const text = `[${Array.from({ length: count }, () => 0).join()}]`
    expect(text).toHaveLength(2 * count + 1)
    expect(exceedsValues(text, count)).toBe(true)
    expect(exceedsValues(text, count + 1)).toBe(false)
    expect(exceedsValues(text, Number.POSITIVE_INFINITY)).toBe(false)
  }
})

test('text that is not JSON is counted up to its first error at least, and never beyond its end', () => {
  for (const text of ['[0,0,0,x', '[0,0,0"', '[[],[],[', '[0,0,{}{}', '[0,0,0,0]]]'])
    expect(exceedsValues(text, 3)).toBe(true)
  for (const text of ['', '"', '"[[[[[[[[[', '"\\', '[', '{'.repeat(3), '        '])
    expect(exceedsValues(text, 4)).toBe(false)
})

test('ten megabytes of anything are counted in time', async () => {
  const size = 10_000_000
  for (const piece of ['"', '\\"', '"\\', '"",', '{},', '[', ' ', '0', ',']) {
    const text = piece.repeat(size / piece.length)
    expect(await processorMs(() => exceedsValues(text, size / 2))).toBeLessThan(3000)
  }
})

test('long names of members count as many, because the engine compares them one by one', () => {
  const object = (count: number, length: number): string =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`.padStart(length, 'x'), 0])),
    )
  const limits = { values: 1_000_000, keys: 20_000, containers: 1000 }
  expect(() => checkValues(object(30, 16_384), limits)).toThrow(
    /^the message has more than 20000 object members, counting names over 16383 characters as 1000, numbers as 10, those after the first 10000 of an object as 4, and names beyond 10000 different ones, among the first 128 of an object, as 4$/,
  )
  expect(() => checkValues(`[${object(9_000, 6)},${object(9_000, 6)},${object(2_001, 6)}]`, limits)).toThrow(
    /^the message has more than 20000 object members$/,
  )
  expect(() => checkValues(object(20, 16_384), limits)).not.toThrow()
  expect(() => checkValues(object(21, 16_384), limits)).toThrow('counting')
  expect(() => checkValues(object(10, 16_384), limits)).not.toThrow()
  expect(() => checkValues(object(30, 16_000), limits)).not.toThrow()
  expect(() => checkValues(JSON.stringify(Array(30).fill('x'.repeat(20_000))), limits)).not.toThrow()
})

test('names that are whole numbers count as ten, because the engine sorts them whenever it reads them', () => {
  const object = (count: number, name: (at: number) => string): string =>
    // Shorter texts are not counted, because numbers of few digits cost little.
    `{${Array.from({ length: count }, (_, at) => `"${name(at)}"   :   0`).join()}}`
  const limits = { values: 1_000_000, keys: 20_000, containers: 1_000_000 }
  for (const name of [
    (at: number) => `${4_294_967_290 - 3 * at}`,
    (at: number) => `${at}`,
    (at: number) => `\\u003${at % 10}${1000 + at}`,
    (at: number) => `1${1000 + at}\\u0031`,
  ]) {
    expect(() => checkValues(object(2000, name), limits)).not.toThrow()
    expect(() => checkValues(object(2001, name), limits)).toThrow('20000 object members, counting')
  }
  for (const name of ['0%', 'k%', '-%', '%.5', '%e', '% ', '1%000000', '\\u0061%', 'é%'])
    expect(() =>
      checkValues(
        object(10_000, (at) => name.replace('%', `${10_000 + at}`)),
        limits,
      ),
    ).not.toThrow()
  expect(() => checkValues(`[${'"123",'.repeat(15_000)}0]`, limits)).not.toThrow()
})

test('members after the first 10,000 of one object count as four, because reading it takes longer', () => {
  const object = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, 0])))
  const limits = { values: 1_000_000, keys: 50_000, containers: 1_000_000 }
  expect(() => checkValues(object(20_000), limits)).not.toThrow()
  expect(() => checkValues(object(20_001), limits)).toThrow('50000 object members, counting')
  // What is inside does not count for the object around it, nor does an object before it.
  const inner = `{"a":${object(10_000)},"b":${object(10_000)},"c":[${object(10_000)},${object(10_000)}]}`
  expect(() => checkValues(inner, limits)).not.toThrow()
})

test.each([
  ['[]', 1],
  ['{"a":[{},[ ]],"b":"[{"}', 4],
  ['[1,2,3,"[","{\\"["]', 1],
])('%s has %i objects and lists', (text, containers) => {
  // Shorter texts cannot exceed a limit, so they are not counted.
  const spaced = `${text}${' '.repeat(20)}`
  const limits = { values: Infinity, keys: Infinity }
  expect(() => checkValues(spaced, { ...limits, containers })).not.toThrow()
  expect(() => checkValues(spaced, { ...limits, containers: containers - 1 })).toThrow(
    expect.objectContaining({
      kind: 'too_many_containers',
      message: `the message has more than ${containers - 1} objects and lists`,
    }),
  )
})

test('objects and lists have a limit of their own, and numbers in one list do not count', () => {
  const limits = { values: 1_000_000, keys: 250_000, containers: 100_000 }
  const list = (item: string, count: number): string =>
    `[${Array.from({ length: count }, () => item).join()}]`
  expect(() => checkValues(list('0.25', 999_000), limits)).not.toThrow()
  expect(() => checkValues(list('[1,2]', 99_999), limits)).not.toThrow()
  for (const item of ['{}', '[]', '[1,2]', ' { "a" : 1 } '])
    expect(() => checkValues(list(item, 100_000), limits)).toThrow('more than 100000 objects and lists')
})

test('names that differ count more once there are many, where the engine makes a class of objects for each', () => {
  const PARTS = { values: Infinity, containers: Infinity, keys: 100_000 }
  const objects = (
    count: number,
    width: number,
    nameOf: (object: number, member: number) => string,
  ): string =>
    JSON.stringify(
      Array.from({ length: count }, (_, at) =>
        Object.fromEntries(Array.from({ length: width }, (__, member) => [nameOf(at, member), 1])),
      ),
    )
  // 10,000 names, and four times 22,500 further ones.
  expect(
    hasTooMany(
      objects(325, 100, (at, member) => `a${at}_${member}`),
      PARTS,
    ),
  ).toBe(false)
  expect(() =>
    checkValues(
      objects(330, 100, (at, member) => `a${at}_${member}`),
      PARTS,
    ),
  ).toThrow(expect.objectContaining({ kind: 'too_many_keys', message: expect.stringContaining('as 4') }))
  expect(
    hasTooMany(
      objects(999, 100, (_, member) => `a${member}`),
      PARTS,
    ),
  ).toBe(false)
  expect(
    hasTooMany(
      objects(9, 10_000, (at, member) => `a${at}_${member}`),
      PARTS,
    ),
  ).toBe(false)
  const many = objects(3800, 127, (at, member) => `a${at}_${member}`)
  expect(hasTooMany(many, { ...PARTS, keys: 500_000 })).toBe(true)
})
