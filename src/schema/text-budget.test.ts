import { toJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'

const NOT_CHECKED = { ok: false, undecided: true, issue: 'takes too long to check: send less at once' }
const repeated = (count: number, text: string): readonly string[] => Array<string>(count).fill(text)
const digits = (count: number, length = 16_000): readonly string[] => repeated(count, '9'.repeat(length))
const alternatives = <Each>(count: number, make: (at: number) => Each): readonly Each[] =>
  Array.from({ length: count }, (_, at) => make(at))

const check = async (schema: AnySchema, b: unknown): Promise<unknown> =>
  toChecker(schema, 'input').check({ b })
const zod = (b: z.ZodType): AnySchema => z.object({ b }) as AnySchema
const zods = (b: z.ZodType): AnySchema => zod(z.array(b))
/** As `toStandardJsonSchema` makes it, but also with actions that have no JSON Schema. */
const valibots = (b: v.GenericSchema): AnySchema => {
  const schema = v.object({ b: v.array(b) })
  const convert =
    (typeMode: 'input' | 'output') =>
    ({ libraryOptions }: { readonly libraryOptions?: object }) =>
      toJsonSchema(schema, { typeMode, errorMode: 'ignore', target: 'draft-2020-12', ...libraryOptions })
  const jsonSchema = { input: convert('input'), output: convert('output') }
  return { '~standard': { ...schema['~standard'], jsonSchema } } as unknown as AnySchema
}
const arks = (b: string): AnySchema => type({ b: `(${b})[]` } as never) as unknown as AnySchema

const big = (): v.GenericSchema => v.pipe(v.string(), v.toBigint(), v.maxValue(1000n))
const coerced = (): z.ZodType => z.string().pipe(z.coerce.bigint() as never)

describe('all texts that a library parses or converts have one limit together', () => {
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema, few: readonly string[], many: readonly string[]])[] = [
    ['big integers of zod', zods(coerced()), digits(100), digits(3000)],
    ['big integers of valibot', valibots(big()), digits(50), digits(3000)],
    ['shorter big integers', valibots(big()), digits(1000, 100), digits(40_000, 1000)],
    ['big integers that are divided', zods(z.string().pipe(z.coerce.bigint().multipleOf(7n) as never)), digits(50), digits(3000)],
    ['tokens', zods(z.jwt()), repeated(500, `${btoa('{"alg":1}')}.a.b`), repeated(3000, `${btoa('{"alg":' + '['.repeat(11_000))}.a.b`)],
    ['normalised texts', zods(z.string().normalize()), repeated(500, 'a\u0301'.repeat(1000)), repeated(3000, 'a\u0301'.repeat(8000))],
    ['short texts that are no big integers', zods(z.union([coerced(), z.string()])), repeated(5000, 'x'), repeated(200_000, 'x')],
    ['words', valibots(v.pipe(v.string(), v.maxWords('en', 5))), repeated(1000, 'a b'), repeated(60_000, 'a b')],
    ['JSON that is only checked', arks('string.json'), repeated(1000, '[1,2]'), repeated(3000, `[${'1,'.repeat(7000)}1]`)],
    ['capitals', zods(z.union(alternatives(8, (at) => z.string().toLowerCase().max(9 + at)))), repeated(1000, 'Straße'), repeated(200, '\u0130'.repeat(20_000))],
    ['patterns', zods(z.union(alternatives(30, (at) => z.email().max(500 + at)))), repeated(5000, 'a@example.com'), repeated(1000, 'a.'.repeat(2000))],
  ]
  test.each(cases)('%s', async (_, schema, few, many) => {
    expect(await check(schema, few)).not.toHaveProperty('undecided')
    expect(await check(schema, many)).toMatchObject(NOT_CHECKED)
  })
})

describe('a text counts as often as it is parsed', () => {
  test('for alternatives and intersections', async () => {
    expect(await check(zods(coerced()), digits(200))).toMatchObject({ ok: true })
    const union = z.union(
      alternatives(8, (at) => z.string().pipe(z.coerce.bigint().max(BigInt(at)) as never)),
    )
    expect(await check(zods(union), digits(200))).toMatchObject(NOT_CHECKED)
    let both: z.ZodType = coerced()
    for (let at = 0; at < 8; at++) both = z.intersection(both, coerced())
    expect(await check(zods(both), digits(200))).toMatchObject(NOT_CHECKED)
  })

  test('in objects that several alternatives share', async () => {
    const shared = z.object({ n: coerced() })
    const options = alternatives(8, (at) => z.object({ c: z.literal(at), shared }))
    const items = digits(200).map((n) => ({ c: 7, shared: { n } }))
    expect(await check(zods(z.union(options)), items)).toMatchObject(NOT_CHECKED)
    expect(await check(zods(z.discriminatedUnion('c', options as never)), items)).toMatchObject({ ok: true })
  })

  test('in alternatives that contain themselves, unless the library remembers results', async () => {
    const nested = (text: string): unknown => {
      let found: unknown = { n: text }
      for (let depth = 0; depth < 12; depth++) found = { op: 'or', args: [found], n: text }
      return found
    }
    const node: v.GenericSchema = v.lazy(() =>
      v.union([
        v.object({ op: v.literal('and'), args: v.array(node), n: big() }),
        v.object({ op: v.literal('or'), args: v.array(node), n: big() }),
        v.object({ n: big() }),
      ]),
    )
    expect(await check(valibots(node), [nested('9'.repeat(16_000))])).toMatchObject(NOT_CHECKED)
    const filter: z.ZodType = z.lazy(() =>
      z.union([
        z.object({ op: z.literal('and'), args: z.array(filter), n: z.url() }),
        z.object({ op: z.literal('or'), args: z.array(filter), n: z.url() }),
        z.object({ n: z.url() }),
      ]),
    )
    let deep: unknown = { n: 'https://example.com/' }
    for (let depth = 0; depth < 50; depth++) deep = { op: 'or', args: [deep], n: 'https://example.com/' }
    expect(await check(zods(filter), [deep])).toMatchObject({ ok: true })
  })

  test('in pieces and whole', async () => {
    const texts = digits(250)
    expect(await check(zods(coerced()), texts)).toMatchObject({ ok: true })
    expect(await check(zods(coerced()), [...texts, ...repeated(10_001, '1')])).toMatchObject(NOT_CHECKED)
  })
})

test('a library is not asked about a value that takes too long', async () => {
  let asked = 0
  const schema = z.object({ b: z.array(z.preprocess((value) => (asked++, value), coerced())) })
  expect(await check(schema as AnySchema, digits(3000))).toMatchObject(NOT_CHECKED)
  expect(asked).toBe(0)
})

describe('everyday lists and files pass', () => {
  const url = (at: number): string => `https://example.com/${'path/'.repeat(15)}${at}`
  const uuid = '123e4567-e89b-42d3-a456-426614174000'
  // oxfmt-ignore
  const cases: readonly (readonly [string, AnySchema, unknown])[] = [
    ['URLs of zod', zods(z.url()), alternatives(20_000, url)],
    ['URLs of valibot', valibots(v.pipe(v.string(), v.url())), alternatives(20_000, url)],
    ['URLs of arktype', arks('string.url'), alternatives(20_000, url)],
    ['URLs or addresses', zods(z.union([z.email(), z.uuid(), z.url()])), alternatives(20_000, url)],
    ['identifiers', zods(z.uuid()), repeated(50_000, uuid)],
    ['big integers', zods(coerced()), digits(20_000, 19)],
    ['big integers of valibot', valibots(v.pipe(v.string(), v.toBigint())), digits(20_000, 19)],
    ['dates', zods(z.iso.datetime()), repeated(50_000, '2026-01-01T00:00:00Z')],
    ['dates of valibot', valibots(v.pipe(v.string(), v.isoTimestamp(), v.toDate())), repeated(20_000, '2026-01-01T00:00:00Z')],
    ['numbers', arks('string.numeric.parse'), repeated(20_000, '12.5')],
    ['names', zods(z.string().trim().toLowerCase().normalize().min(1)), repeated(50_000, 'Jörg Müller')],
    ['a file', zod(z.base64()), 'QUJD'.repeat(10_000_000)],
    ['a file in the other alphabet', zod(z.base64url()), 'QUJD'.repeat(10_000_000)],
    ['a file of valibot', valibots(v.pipe(v.string(), v.base64())), ['QUJD'.repeat(500_000)]],
    ['a file of arktype', arks('string.base64'), ['QUJD'.repeat(500_000)]],
    ['a picture in a URL', zod(z.url()), `data:image/png;base64,${'QUJD'.repeat(10_000_000)}`],
  ]
  test.each(cases)('%s', async (_, schema, value) => {
    expect(await check(schema, value)).toMatchObject({ ok: true })
  })
})
