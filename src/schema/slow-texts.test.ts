import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import { hostIn } from './host-in.ts'
import type { AnySchema } from './schema.ts'
import { toSlowTexts } from './slow-texts.ts'

const marks = (count: number): string => `a${'\u0301'.repeat(count / 2)}${'\u0316'.repeat(count / 2)}`
const hanzi = (count: number): string =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join('')
const valibot = (entries: v.ObjectEntries): AnySchema => toStandardJsonSchema(v.object(entries)) as AnySchema
const ark = (shape: unknown): AnySchema => type(shape as never) as unknown as AnySchema

const LONG_HOST = { ok: false, undecided: true, issue: expect.stringContaining('host is too long') }
const MANY_MARKS = { ok: false, undecided: true, issue: expect.stringContaining('combining marks') }

describe('a text that looks like a URL with a very long host is not given to a library', () => {
  const hosts = [marks(20_000), hanzi(20_000), '%CC%81'.repeat(5000), `xn--${'b1a'.repeat(6000)}`]
  // oxfmt-ignore
  const schemas: readonly (readonly [string, AnySchema, (url: string) => unknown])[] = [
    ['zod', z.object({ b: z.url().max(2000) }), (b) => ({ b })],
    ['zod, trimmed', z.object({ b: z.string().trim().url() }), (b) => ({ b: `\ufeff \u00a0${b}` })],
    ['zod, normalised', z.object({ b: z.string().normalize('NFKC').url() }), (b) => ({ b: b.replace('http:', 'ｈｔｔｐ：') })],
    ['zod, behind a pipe', z.object({ b: z.string().transform((text) => text).pipe(z.url()) }), (b) => ({ b })],
    ['a name of a record', z.object({ b: z.record(z.url(), z.number()) }), (b) => ({ b: { [b]: 1 } })],
    ['an alternative in a list', z.object({ b: z.array(z.union([z.number(), z.url()])) }), (b) => ({ b: [1, b] })],
    ['a function of the author', z.object({ b: z.string().refine(URL.canParse) }), (b) => ({ b })],
    ['valibot', valibot({ b: v.pipe(v.string(), v.url()) }), (b) => ({ b })],
    ['valibot, in JSON', valibot({ b: v.pipe(v.string(), v.parseJson(), v.object({ c: v.pipe(v.string(), v.url()) })) }), (c) => ({ b: escaped({ c }) })],
    ['arktype', ark({ b: 'string.url' }), (b) => ({ b })],
    ['arktype, parsed', ark({ b: 'string.url.parse' }), (b) => ({ b })],
    ['arktype, in JSON', ark({ b: type('string.json.parse').to({ c: 'string.url' }) }), (c) => ({ b: escaped({ c }) })],
  ]
  test.each(schemas)('%s', async (_, schema, make) => {
    const { check } = toChecker(schema, 'input')
    for (const host of hosts)
      for (const start of [
        'http://',
        'http:',
        'HTTPS:\\\\',
        ' \n h\tttp:///',
        'wss://',
        'ftp://user@',
        'file://',
      ])
        expect([start, host.slice(0, 9), await check(make(start + host))]).toMatchObject([
          start,
          host.slice(0, 9),
          LONG_HOST,
        ])
  })

  test('many hosts count together, once for each place that checks URLs', async () => {
    const one = toChecker(z.object({ b: z.array(z.url()) }), 'input')
    const list = (length: number) => ({ b: Array.from({ length }, (_, at) => `http://${hanzi(1000)}${at}/`) })
    expect(await one.check(list(20))).toMatchObject({ ok: true })
    expect(await one.check(list(80))).toMatchObject(LONG_HOST)
    const many = toChecker(
      z.object({ b: z.array(z.union([z.url(), z.url().min(1), z.url().min(2), z.url().min(3)])) }),
      'input',
    )
    expect(await many.check(list(20))).toMatchObject(LONG_HOST)
  })
})

function escaped(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^!-~]|h/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

test('very many combining marks in a row are not given to a library', async () => {
  for (const schema of [
    z.object({ b: z.string().normalize() }),
    ark({ b: 'string.normalize' }),
    valibot({ b: v.string() }),
  ]) {
    const { check } = toChecker(schema, 'input')
    for (const text of [
      marks(10_000),
      `${hanzi(100)}${marks(10_000)}b`,
      '\ud834\udd65'.repeat(6000),
      'ﾞ'.repeat(9000),
      `${marks(1000)} `.repeat(100),
    ])
      expect(await check({ b: text })).toMatchObject(MANY_MARKS)
  }
})

test('long texts of any language are fine', async () => {
  const { check } = toChecker(z.object({ b: z.string(), url: z.url().optional() }), 'input')
  const hindi = 'क्षत्रियों की वीरता '.repeat(20_000)
  const zalgo = `a${'\u0301\u0316\u0334'.repeat(5)}`.repeat(2000)
  for (const b of [
    hindi,
    zalgo,
    hanzi(100_000),
    'a'.repeat(1_000_000),
    'Warnung: '.repeat(10_000),
    `file: ${hanzi(5000)}`,
    '👩‍👩‍👧'.repeat(9000),
    'ế'.normalize('NFD').repeat(20_000),
  ])
    expect([b.slice(0, 20), await check({ b })]).toMatchObject([b.slice(0, 20), { ok: true }])
  const long = `https://example.com/${'a'.repeat(100_000)}?q=${hanzi(50_000)}`
  expect(await check({ b: '', url: long })).toMatchObject({ ok: true })
})

describe('one host is too long if a library parses it many times', () => {
  const link = `https://${hanzi(8000)}`

  test('at places that share a definition', async () => {
    const url = z.url().meta({ id: 'SharedUrl' })
    const block = z.union(
      Array.from({ length: 30 }, (_, i) => z.object({ kind: z.literal(`k${i}`), link: url })),
    )
    const { check } = toChecker(z.object({ block }), 'input')
    expect(await check({ block: { kind: 'none', link } })).toMatchObject(LONG_HOST)
    expect(await check({ block: { kind: 'k1', link: `https://${hanzi(100)}.example/` } })).toMatchObject({
      ok: true,
    })
  })

  test('in a union that contains itself', async () => {
    interface Node {
      readonly and?: Node
      readonly k?: number
      readonly url?: string
    }
    const node: v.GenericSchema<Node> = v.lazy(() =>
      v.union([
        v.object({ and: node, k: v.literal(1) }),
        v.object({ and: node, k: v.literal(2) }),
        v.object({ url: v.pipe(v.string(), v.url()) }),
      ]),
    )
    const schema = toStandardJsonSchema(v.object({ n: node })) as AnySchema
    const { check } = toChecker(schema, 'input')
    const nested = (url: string): Node => {
      let found: Node = { url }
      for (let depth = 0; depth < 7; depth++) found = { and: found, k: 3 }
      return found
    }
    expect(await check({ n: nested(link) })).toMatchObject({ ok: false, undecided: true })
    const short = (await check({ n: nested('https://example.com/') })) as { readonly undecided?: boolean }
    expect(short.undecided).toBeUndefined()
  })

  test('in an address that is checked as a part of a URL', () => {
    const use = { urls: 1, parsesJson: false }
    const value = [`@${hanzi(20_000)}`]
    expect(toSlowTexts({ ...use, hasAddresses: true }).problemOf(value)).toBeDefined()
    expect(toSlowTexts(use).problemOf(value)).toBeUndefined()
  })
})

test.each([
  ['https://example.com/path', 11],
  [' \n h\tt t p s:// \t example.com?x', 11],
  ['http:example', 7],
  ['HTTP:\\\\a\\b', 1],
  ['mailto:someone', 0],
  ['x@example.com', 0],
  ['', 0],
])('%j has a host of %i characters', (text, length) => {
  expect(hostIn(text)).toBe(length)
})

test('millions of spaces before a host are looked at once', () => {
  expect(hostIn(`${' '.repeat(10_000_000)}http:${'/'.repeat(10_000_000)}a`)).toBe(1)
})
