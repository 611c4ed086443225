import { expect, onTestFinished, test, vi } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { toCheck } from './checking.ts'

/** A clock that shows these times, and then stays at the last. */
function useClock(...times: readonly number[]): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(times.at(-1) ?? 0)
  for (const time of times) clock.mockReturnValueOnce(time)
  onTestFinished(() => clock.mockRestore())
}

/** A schema with this many patterns, all of which numbers fail. */
function withPatterns(count: number): JsonObject {
  const named = Array.from({ length: count - 1 }, (_, at) => [
    `p${at}`,
    { type: 'string', pattern: `^${at}$` },
  ])
  return {
    type: 'object',
    patternProperties: { '^other': { type: 'string' } },
    properties: Object.fromEntries(named) as JsonObject,
  }
}

test('a schema with 500 patterns is checked, and one with more lets every value pass', async () => {
  useClock(0)
  expect(await toCheck(withPatterns(500), 'output')({ p1: 1 })).toMatchObject({ ok: false })
  expect(await toCheck(withPatterns(500), 'output')({ p1: '1' })).toEqual({ ok: true, value: { p1: '1' } })
  expect(await toCheck(withPatterns(501), 'output')({ p1: 1 })).toEqual({
    ok: true,
    value: { p1: 1 },
    unchecked: expect.stringContaining('the schema has more than 500 patterns'),
  })
})

test('the same pattern counts once, however often it is used', async () => {
  useClock(0)
  const names = Array.from({ length: 501 }, (_, at) => [`p${at}`, { type: 'string', pattern: '^a$' }])
  const schema = { type: 'object', properties: Object.fromEntries(names) as JsonObject }
  expect(await toCheck(schema, 'output')({ p500: 'b' })).toMatchObject({ ok: false })
})

test('patterns that take more than half a second to analyse let every value pass', async () => {
  const schema = withPatterns(3)
  useClock(1000, 1000, 1500)
  expect(await toCheck(schema, 'output')({ p1: 1 })).toMatchObject({ ok: false })
  vi.restoreAllMocks()
  useClock(1000, 1000, 1501)
  expect(await toCheck(schema, 'output')({ p1: 1 })).toMatchObject({
    ok: true,
    unchecked: expect.stringContaining('the patterns of the schema take too long to analyse'),
  })
})

test('the schemas of one server share the time for patterns, which comes back slowly', async () => {
  const time = { left: 500, at: 0 }
  const unchecked = { unchecked: expect.stringContaining('take too long to analyse') as string }
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  const isChecked = async (from: number, to: number): Promise<boolean> => {
    clock.mockReturnValue(to).mockReturnValueOnce(from).mockReturnValueOnce(from)
    return (await toCheck({ pattern: `^${from}$` }, 'output', time)(1)).unchecked === undefined
  }
  expect(await isChecked(1_000, 1_400)).toBe(true)
  expect(await isChecked(1_400, 1_600)).toBe(true)
  // The last one took 100 ms more than there was, for which the server waits two seconds.
  expect(await isChecked(1_600, 1_600)).toBe(false)
  expect(await toCheck(withPatterns(3), 'output', time)({ p1: 1 })).toMatchObject(unchecked)
  expect(await isChecked(3_500, 3_500)).toBe(false)
  expect(await isChecked(3_700, 3_700)).toBe(true)
})

test('patterns that take long to compile let every value pass', async () => {
  useClock(0)
  const schema = (count: number): JsonObject => ({
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `p${at}`,
        { type: 'string', pattern: `^${at}${'[a-z]'.repeat(99)}` },
      ]),
    ) as JsonObject,
  })
  expect(await toCheck(schema(10), 'output')({ p1: 1 })).toMatchObject({ ok: false })
  expect(await toCheck(schema(100), 'output')({ p1: 1 })).toMatchObject({
    ok: true,
    unchecked: expect.stringContaining('the patterns of the schema have more than 5000 parts'),
  })
})

test('an invalid schema lets every value pass, and says why', async () => {
  expect(await toCheck({ type: 'nothing' }, 'output')(1)).toEqual({
    ok: true,
    value: 1,
    unchecked: expect.stringContaining('the schema at #/type is the unknown type "nothing"'),
  })
  expect(await toCheck({ pattern: '(' }, 'output')('a')).toMatchObject({
    unchecked: expect.stringContaining(
      'the schema at #/pattern has an unsafe pattern: it is not a regular expression',
    ),
  })
})

test('a value that takes too long to check passes, and says why', async () => {
  const TOO_LONG: unknown = expect.stringContaining('that would take too long')
  const many = { items: { pattern: '[a-z]+$' } }
  const long = 'a'.repeat(4000)
  expect(await toCheck(many, 'output')([long])).toEqual({ ok: true, value: [long] })
  expect(await toCheck(many, 'output')([long, long])).toMatchObject({ unchecked: TOO_LONG })
  const slow = { pattern: '^.*b{50}$' }
  expect(await toCheck(slow, 'output')('b'.repeat(212_000))).toMatchObject({ ok: true })
  expect(await toCheck(slow, 'output')('a'.repeat(240_000))).toMatchObject({ unchecked: TOO_LONG })
})

test('a schema that is nested too deep lets every value pass', async () => {
  let schema: JsonObject = { type: 'string', pattern: '^a$' }
  for (let depth = 0; depth < 100_000; depth++) schema = { type: 'array', items: schema }
  expect(await toCheck(schema, 'output')('b')).toMatchObject({ ok: true, unchecked: expect.any(String) })
})

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `a${at}`)
const each = (count: number, value: unknown): JsonObject =>
  Object.fromEntries(names(count).map((name) => [name, value]))

test.each<readonly [keyword: string, detail: (count: number) => unknown]>([
  ['required', names],
  ['dependentRequired', (count) => each(count, [])],
  ['dependencies', (count) => each(count, ['a'])],
  ['properties', (count) => each(count, true)],
  ['enum', names],
  ['default', (count) => each(count, 1)],
])('a schema with too many values in %s is not compiled', async (keyword, detail) => {
  const schema = { type: 'object', [keyword]: detail(50_000) }
  expect(await toCheck(schema, 'output')({})).toEqual({
    ok: true,
    value: {},
    unchecked: 'the schema has more than 50000 values. Check it yourself before you rely on it.',
  })
})

test('a schema with fewer values is compiled', async () => {
  const check = toCheck({ type: 'object', required: names(49_998) }, 'output')
  expect(await check({})).toMatchObject({ ok: false })
  expect(await check(each(49_998, 1))).toMatchObject({ ok: true })
})

test('classes such as \\p{L} count as many parts, since engines take long to compile them', async () => {
  useClock(0)
  const names = (classes: number): JsonObject => {
    const pattern = `^${'\\p{L}'.repeat(classes)}$`
    return { type: 'object', properties: { a: { pattern }, b: { pattern: `${pattern}|^$` } } }
  }
  expect(await toCheck(names(50), 'output')({ a: '' })).toMatchObject({ ok: false })
  const unchecked = 'the patterns of the schema have more than 5000 parts'
  expect(await toCheck(names(100), 'output')({ a: '' })).toMatchObject({
    ok: true,
    unchecked: expect.stringContaining(unchecked) as string,
  })
})
