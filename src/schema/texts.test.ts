import { toJsonSchema } from '@valibot/to-json-schema'
import { scope, type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as newest from 'zod'
import * as oldest from 'zod42'
import { toChecker } from './checker.ts'
import type { AnySchema } from './schema.ts'

const { z } = newest
const LIMIT = 16_384
const a = (length: number): string => 'a'.repeat(length)
const hanzi = (count: number): string =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join('')
/** As `toStandardJsonSchema` makes it, but also with actions that have no JSON Schema. */
const shown = (schema: v.GenericSchema): AnySchema => {
  const convert =
    (typeMode: 'input' | 'output') =>
    ({ libraryOptions }: { readonly libraryOptions?: object }) =>
      toJsonSchema(schema, { typeMode, errorMode: 'ignore', target: 'draft-2020-12', ...libraryOptions })
  const jsonSchema = { input: convert('input'), output: convert('output') }
  return { '~standard': { ...schema['~standard'], jsonSchema } } as unknown as AnySchema
}
const valibot = (b: v.GenericSchema): AnySchema => shown(v.object({ b }))
const ark = (b: unknown): AnySchema => type({ b } as never) as unknown as AnySchema
const check = async (schema: AnySchema, b: unknown): Promise<unknown> =>
  toChecker(schema, 'input').check({ b })

const NOT_CHECKED = { ok: false, undecided: true }
const TOO_LONG = { ...NOT_CHECKED, issue: expect.stringMatching(/^b.*: must have at most \d+ characters$/) }

describe.each([
  ['zod 4.2', oldest.z as unknown as typeof z],
  ['the newest zod', z],
])('%s', (_, zod) => {
  const coerced = zod.coerce.string() as unknown as newest.ZodString
  const of = (b: newest.ZodType): AnySchema => zod.object({ b }) as AnySchema
  // oxfmt-ignore
  const schemas: readonly (readonly [string, newest.ZodType, value: unknown])[] = [
    ['a list that becomes a text for a pattern', zod.coerce.string().regex(/[a-z]+$/), [`${a(100_000)}1`]],
    ['a short list, for a slower pattern', zod.coerce.string().regex(/^\S+@\S+\.\S+$/), ['a@.'.repeat(1000)]],
    ['a list that becomes a URL', coerced.url(), ['http://x', hanzi(20_000)]],
    ['a list that becomes an email address', coerced.email(), [`${'a.'.repeat(30_000)}@`]],
    ['a nested list', zod.array(zod.coerce.string().regex(/\d+-\d+$/)), [[['1'.repeat(60_000)]]]],
    ['an address with a hidden host', zod.ipv6(), `a@${hanzi(20_000)}/@`],
    ['a range with a hidden host', zod.cidrv6(), `a@${hanzi(20_000)}?@/64`],
    ['digits', zod.string().pipe(zod.coerce.bigint() as never), '9'.repeat(20_000)],
    ['a token', zod.jwt(), `${a(20_000)}.e30.AA`],
    ['a text that grows', zod.string().normalize('NFKC'), '\ufdfa'.repeat(20_000)],
    ['a text that becomes a URL in capitals', zod.string().toUpperCase().url(), `f\u0131le://${hanzi(20_000)}/`],
    ['a URL', zod.url(), `http://${hanzi(20_000)}`],
    ['the name of a record', zod.record(zod.url(), zod.number()), { [`http://${hanzi(20_000)}`]: 1 }],
    ['a URL behind a function', zod.string().transform((text) => text).pipe(zod.url()), `http://${hanzi(20_000)}`],
    ['a part of what a function returns', zod.string().transform((text) => JSON.parse(text) as unknown).pipe(zod.object({ c: zod.url() })), JSON.stringify({ c: a(20_000) })],
    ['a URL in a codec', zod.codec(zod.string(), zod.url(), { decode: (text) => text, encode: (text) => text }), `http://${hanzi(20_000)}`],
    ['a slow pattern in a pipe', zod.string().pipe(zod.string().regex(/[a-z]+$/)), `${a(20_000)}1`],
    ['a slow pattern behind a function', zod.string().transform((text) => text.trim()).pipe(zod.string().regex(/[a-z]+$/)), `${a(20_000)}1`],
    ['a pattern for a text that grows', zod.string().toUpperCase().regex(/[^x]+$/), '\u0390'.repeat(3000)],
    ['a change that nobody knows', zod.string().overwrite((text) => `${text}${text}`), a(20_000)],
    ['other members', zod.object({ c: zod.string() }).catchall(zod.url()), { c: a(20_000), d: a(20_000) }],
  ]
  test.each(schemas)('%s must be short', async (_case, schema, value) => {
    expect(await check(of(schema), value)).toMatchObject(TOO_LONG)
  })

  // oxfmt-ignore
  const plain: readonly (readonly [string, newest.ZodType, value: unknown])[] = [
    ['a text', zod.string().min(1).startsWith('a').endsWith('a').includes('a'), a(1_000_000)],
    ['a text beside a URL', zod.object({ url: zod.url(), c: zod.string() }), { url: 'https://example.com/', c: a(1_000_000) }],
    ['a declared member', zod.object({ c: zod.string() }).catchall(zod.url()), { c: a(1_000_000), d: 'http://example.com' }],
    ['a text that is trimmed', zod.string().trim().toLowerCase().min(1), ` ${a(1_000_000)}`],
    ['a file', zod.base64(), 'QUJD'.repeat(1_000_000)],
    ['a file in the other alphabet', zod.base64url(), 'QUJD'.repeat(1_000_000)],
    ['a picture in a URL', zod.url(), `data:image/png;base64,${'QUJD'.repeat(1_000_000)}`],
    ['a text behind a function', zod.string().transform((text) => text.length).pipe(zod.number()), a(1_000_000)],
    ['a text before a function', zod.preprocess((value) => value, zod.object({ url: zod.url(), c: zod.string() })), { url: 'https://example.com/', c: a(1_000_000) }],
    ['a text that the author checks', zod.string().refine((text) => text.length > 0), a(1_000_000)],
    ['a number', zod.coerce.number(), `0.${'1'.repeat(100_000)}`],
    ['many addresses', zod.array(zod.ipv6()), Array(9000).fill('2001:db8:85a3::8a2e:370:7334')],
    ['many URLs', zod.array(zod.url()), Array.from({ length: 5000 }, (_each, at) => `https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E-${at}`)],
    ['a list of few', zod.union([zod.array(zod.string()), zod.coerce.string()]), Array(1000).fill('tag')],
    ['a text in another language', zod.string().normalize(), 'क्षत्रियों की वीरता '.repeat(500)],
  ]
  test.each(plain)('%s may be long', async (_case, schema, value) => {
    expect(await check(of(schema), value)).toMatchObject({ ok: true })
  })

  test('everyday formats and conversions work', async () => {
    const everyday: readonly (readonly [newest.ZodType, unknown])[] = [
      [zod.url(), 'https://example.com/a?q=ä'],
      [zod.email(), 'a@example.com'],
      [zod.iso.datetime(), '2026-01-01T00:00:00Z'],
      [zod.iso.date(), '2026-01-01'],
      [zod.uuid(), '123e4567-e89b-42d3-a456-426614174000'],
      [zod.jwt(), 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.AAAA'],
      [zod.ipv6(), '::1'],
      [zod.coerce.string(), 5],
      [zod.coerce.string(), ['a', 'b']],
      [zod.coerce.number(), '5'],
      [zod.stringbool(), 'yes'],
      [zod.string().pipe(zod.coerce.date() as never), '2026-01-01'],
      [zod.string().pipe(zod.coerce.bigint() as never), '123'],
      [zod.json(), { c: [1, 'x', null] }],
    ]
    for (const [schema, value] of everyday)
      expect([value, await check(of(schema), value)]).toMatchObject([value, { ok: true }])
  })
})

test('a kind that a newer library may have is not plain', async () => {
  const b = z.array(z.optional(z.string()))
  expect(await check(z.object({ b }), [a(20_000)])).toMatchObject({ ok: true })
  Object.assign((b.element as newest.ZodOptional)._zod.def, { type: 'later' })
  const { json } = toChecker(z.object({ b: z.array(z.string()) }), 'input')
  const schema = z.object({ b })
  const shown = {
    '~standard': {
      ...schema['~standard'],
      jsonSchema: { input: () => ({ ...json }), output: () => ({ ...json }) },
    },
  }
  const later = Object.defineProperties(shown, { _zod: { value: schema._zod } }) as AnySchema
  expect(await check(later, [a(20_000)])).toMatchObject(TOO_LONG)
  expect(await check(later, ['a', 1])).toMatchObject({ ok: false, issue: expect.stringContaining('string') })
})

test('of other libraries, a text is plain if the JSON Schema says nothing else', async () => {
  const json = {
    type: 'object',
    properties: {
      b: { type: 'object', properties: { c: { type: 'string' }, d: { type: 'string', format: 'uri' } } },
    },
  }
  const input = (): Record<string, unknown> => ({ ...json })
  const validate = (value: unknown): { readonly value: unknown } => ({ value })
  const schema = {
    '~standard': { version: 1, vendor: 'other', validate, jsonSchema: { input, output: input } },
  } as AnySchema
  expect(await check(schema, { c: a(100_000) })).toMatchObject({ ok: true })
  expect(await check(schema, { d: a(100_000) })).toMatchObject(TOO_LONG)
})

describe('valibot', () => {
  const json = (next: v.GenericSchema): v.GenericSchema => v.pipe(v.string(), v.parseJson(), next)
  // oxfmt-ignore
  const schemas: readonly (readonly [string, v.GenericSchema, value: unknown])[] = [
    ['JSON', json(v.array(v.string())), `[${'1,'.repeat(20_000)}1]`],
    ['digits', v.pipe(v.string(), v.digits(), v.toBigint()), '9'.repeat(20_000)],
    ['a URL', v.pipe(v.string(), v.url()), `http://${hanzi(20_000)}`],
    ['a URL behind a function', v.pipe(v.string(), v.transform((text) => text), v.string(), v.url()), `http://${hanzi(20_000)}`],
    ['a URL in JSON', json(v.object({ c: v.pipe(v.string(), v.url()) })), JSON.stringify({ c: a(20_000) })],
    ['a pattern in JSON', json(v.object({ c: v.pipe(v.string(), v.regex(/[a-z]+$/)) })), JSON.stringify({ c: a(10_000) })],
    ['a list that becomes a text', v.pipe(v.union([v.string(), v.array(v.string())]), v.toString(), v.regex(/[a-z]+$/)), [a(5000)]],
    ['a text that grows', v.pipe(v.string(), v.normalize('NFKC')), '\ufdfa'.repeat(20_000)],
    ['words', v.pipe(v.string(), v.maxWords('en', 9)), a(20_000)],
    ['a format', v.pipe(v.string(), v.isbn()), a(20_000)],
  ]
  test.each(schemas)('%s must be short', async (_, schema, value) => {
    expect(await check(valibot(schema), value)).toMatchObject(TOO_LONG)
  })

  test('a whole value that is converted is looked at, too', async () => {
    const root = v.pipe(
      v.object({ b: v.pipe(v.string(), v.url()) }),
      v.check(() => true),
      v.transform((value) => value),
    )
    expect(await check(shown(root), `http://${hanzi(20_000)}`)).toMatchObject(TOO_LONG)
    expect(await check(shown(root), 'http://example.com')).toMatchObject({
      ok: true,
    })
  })

  test('what texts contain as JSON counts, also if nothing looks at it', async () => {
    const list = valibot(v.array(v.pipe(v.string(), v.parseJson())))
    const text = `[${'[],'.repeat(4_000)}[]]`
    expect(await check(list, Array<string>(10).fill(text))).toMatchObject({ ok: true })
    expect(await check(list, Array<string>(60).fill(text))).toMatchObject(NOT_CHECKED)
    const arks = ark('string.json.parse[]')
    expect(await check(arks, Array<string>(60).fill(text))).toMatchObject(NOT_CHECKED)
  })

  test('alternatives behind JSON count as often as they are read', async () => {
    let looks = 0
    const options = v.union([
      v.object({ not: v.lazy(() => filter), c: v.optional(v.string()) }),
      v.object({ not: v.lazy(() => filter), d: v.optional(v.string()) }),
      v.object({ n: v.string() }),
    ])
    const filter: v.GenericSchema = v.lazy(() => (looks++, options))
    const schema = valibot(json(filter))
    const nested = (depth: number, leaf: unknown): string =>
      `${'{"not":'.repeat(depth)}${JSON.stringify(leaf)}${'}'.repeat(depth)}`
    expect(await check(schema, nested(5, { n: 'x' }))).toMatchObject({ ok: true })
    looks = 0
    for (const depth of [18, 30, 1000])
      expect(await check(schema, nested(depth, { n: 1 }))).toMatchObject(NOT_CHECKED)
    expect(looks).toBe(0)
  })

  test('a variant behind JSON may be deep', async () => {
    const node: v.GenericSchema = v.lazy(() =>
      v.variant('op', [
        v.object({ op: v.literal('and'), args: v.array(node) }),
        v.object({ op: v.literal('or'), args: v.array(node) }),
        v.object({ op: v.literal('leaf') }),
      ]),
    )
    let value: unknown = { op: 'leaf' }
    for (let depth = 0; depth < 30; depth++) value = { op: 'or', args: [value] }
    expect(await check(valibot(json(node)), JSON.stringify(value))).toMatchObject({ ok: true })
  })

  test('JSON in texts has a limit on its levels, and on all its parts', async () => {
    const tree: v.GenericSchema = v.lazy(() => v.array(tree))
    expect(await check(valibot(json(tree)), '['.repeat(8000) + ']'.repeat(8000))).toMatchObject({
      ...NOT_CHECKED,
      issue: 'b: has JSON with more than 128 levels',
    })
    const wide = v.object(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, v.string()])))
    expect(await check(valibot(json(v.array(wide))), `[${'{},'.repeat(1000)}{}]`)).toMatchObject(NOT_CHECKED)
    const list = v.array(json(v.array(v.number())))
    const texts = (count: number): readonly string[] => Array(count).fill(`[${'1,'.repeat(5000)}1]`)
    expect(await check(valibot(list), texts(8))).toMatchObject({ ok: true })
    expect(await check(valibot(list), texts(30))).toMatchObject(NOT_CHECKED)
  })

  test('a long text is fine where it is only read', async () => {
    const parts = [
      v.minLength(1),
      v.trim(),
      v.toLowerCase(),
      v.maxBytes(9_000_000),
      v.base64(),
      v.description('x'),
      v.brand('B'),
    ] as const
    for (const part of parts)
      expect(await check(valibot(v.pipe(v.string(), part as never)), 'QUJD'.repeat(100_000))).toMatchObject({
        ok: true,
      })
    expect(await check(valibot(json(v.object({ c: v.number() }))), '{"c":1}')).toEqual({
      ok: true,
      value: { b: { c: 1 } },
    })
  })
})

describe('arktype', () => {
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema, value: unknown])[] = [
    ['JSON', ark(type('string.json.parse').to('string[]')), `[${'1,'.repeat(20_000)}1]`],
    ['JSON that is only checked', ark('string.json'), `[${'1,'.repeat(20_000)}1]`],
    ['a URL', ark('string.url'), `http://${hanzi(20_000)}`],
    ['a parsed URL', ark('string.url.parse'), `http://${hanzi(20_000)}`],
    ['a URL in a list', ark('(string.url|number)[]'), [1, `http://${hanzi(20_000)}`]],
    ['a URL in JSON', ark(type('string.json.parse').to({ c: 'string.url' })), JSON.stringify({ c: a(20_000) })],
    ['a text that grows', ark('string.normalize.NFKC'), '\ufdfa'.repeat(20_000)],
    ['a pattern behind a function', ark(type('string.lower').to(/[a-z]+$/)), `${a(20_000)}1`],
    ['a URL in a scope of its own', scope({ link: 'string.url', root: { b: 'link' } }).export().root as unknown as AnySchema, a(20_000)],
  ]
  test.each(schemas)('%s must be short', async (_, schema, value) => {
    expect(await check(schema, value)).toMatchObject(TOO_LONG)
  })

  test('a long text is fine where it is only read', async () => {
    for (const b of [
      'string > 1',
      'string.trim',
      'string.lower',
      'string.base64',
      type('string').narrow(() => true),
      type('string').pipe((text) => text.length),
    ])
      expect(await check(ark(b), 'QUJD'.repeat(100_000))).toMatchObject({ ok: true })
    expect(await check(ark(type('string.json.parse').to({ c: 'number' })), '{"c":1}')).toEqual({
      ok: true,
      value: { b: { c: 1 } },
    })
    expect(await check(ark('string.date.parse'), '2026-01-01')).toMatchObject({ ok: true })
  })
})

test('many shorter texts count together, once for each place that parses them', async () => {
  const list = (length: number): readonly string[] =>
    Array.from({ length }, (_, at) => `http://${hanzi(2000)}${at}/`)
  expect(await check(z.object({ b: z.array(z.url()) }), list(15))).toMatchObject({ ok: true })
  expect(await check(z.object({ b: z.array(z.url()) }), list(60))).toMatchObject(NOT_CHECKED)
  const four = z.union([z.url(), z.url().min(1), z.url().min(2), z.url().min(3)])
  expect(await check(z.object({ b: z.array(four) }), list(15))).toMatchObject(NOT_CHECKED)
})

test('marks in a row take the square of their number', async () => {
  const marks = `a${'\u0301'.repeat(5000)}${'\u0316'.repeat(5000)}`
  for (const schema of [z.object({ b: z.string().normalize() }), ark('string.normalize')])
    for (const text of [marks, '\ud834\udd65'.repeat(6000), 'ﾞ'.repeat(9000)])
      expect(await check(schema, text)).toMatchObject(NOT_CHECKED)
  expect(await check(z.object({ b: z.string() }), marks)).toMatchObject({ ok: true })
})

test('texts that become longer count together', async () => {
  const texts = (count: number): readonly string[] => Array(count).fill('\ufdfa'.repeat(16_000))
  const schema = z.object({ b: z.array(z.string().normalize('NFKC')) })
  expect(await check(schema, texts(10))).toMatchObject({ ok: true })
  expect(await check(schema, texts(100))).toMatchObject(NOT_CHECKED)
})

test('the limit can be set', async () => {
  const limits = { schemaDepth: 64, subschemas: 2000, parsedText: 100_000 }
  const { check: own } = toChecker(z.object({ b: z.url() }), 'input', limits)
  expect(await own({ b: `https://example.com/${a(90_000)}` })).toMatchObject({ ok: true })
  expect(await own({ b: `https://example.com/${a(100_000)}` })).toMatchObject(TOO_LONG)
  const b = `https://example.com/${a(LIMIT)}`
  expect(await check(z.object({ b: z.url() }), b)).toMatchObject(TOO_LONG)
  expect(await check(z.object({ b: z.url() }), b.slice(0, LIMIT))).toMatchObject({ ok: true })
})

describe('one host is too long if a library parses it many times', () => {
  const link = `https://${hanzi(8000)}`

  test('at places that share a definition', async () => {
    const url = z.url().meta({ id: 'SharedUrl' })
    const block = z.union(
      Array.from({ length: 30 }, (_, at) => z.object({ kind: z.literal(`k${at}`), link: url })),
    )
    expect(await check(z.object({ b: block }), { kind: 'none', link })).toMatchObject(NOT_CHECKED)
    const short = { kind: 'k1', link: `https://${hanzi(100)}.example/` }
    expect(await check(z.object({ b: block }), short)).toMatchObject({ ok: true })
  })

  test('but not in a union that contains itself, which parses it once', async () => {
    const node: v.GenericSchema = v.lazy(() =>
      v.union([
        v.object({ and: node, k: v.literal(1) }),
        v.object({ and: node, k: v.literal(2) }),
        v.object({ url: v.pipe(v.string(), v.url()) }),
      ]),
    )
    const nested = (url: string): unknown => {
      let found: unknown = { url }
      for (let depth = 0; depth < 30; depth++) found = { and: found, k: 3 }
      return found
    }
    for (const url of [link, 'https://example.com/'])
      expect(await check(valibot(node), nested(url))).not.toHaveProperty('undecided')
  })
})

test('a value of our own may contain itself', async () => {
  const node: newest.ZodType = z.object({ b: z.lazy(() => node).optional(), url: z.url().optional() })
  const own: Record<string, unknown> = { url: `http://${hanzi(20_000)}` }
  own['b'] = own
  expect(await toChecker(node, 'output').check(own)).toMatchObject({
    ok: false,
    issue: expect.stringMatching(/^url: must/),
  })
})
