import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { toChecker } from './checker.ts'
import type { StandardSchema } from './schema.ts'

const long = (length: number): string => 'a'.repeat(length)

/** Schemas of an object with a member `b`, by library. */
const WITH: Readonly<Record<string, (pattern: RegExp) => StandardSchema>> = {
  zod: (pattern) => z.object({ b: z.string().regex(pattern) }),
  valibot: (pattern) => toStandardJsonSchema(v.object({ b: v.pipe(v.string(), v.regex(pattern)) })),
  arktype: (pattern) => type({ b: pattern }) as never,
}

test.each(Object.entries(WITH))('%s: an exponential pattern is refused with a fix', (_, make) => {
  const patterns = [/^(\w+\s?)*$/, /^(a|a)*$/, /^(a+)+\1$/]
  for (const pattern of patterns)
    for (const use of ['input', 'output'] as const)
      expect(() => toChecker(make(pattern), use)).toThrow(/unsafe pattern: .*\. .*anchor it with \^.*own/s)
})

test.each(Object.entries(WITH))(
  '%s: a text that is too long for its pattern is never matched',
  async (_, make) => {
    const slow = /[a-z]+$/
    const { check } = toChecker(make(slow), 'input')
    expect(await check({ b: long(4000) })).toMatchObject({ ok: true })
    expect(await check({ b: `${long(110_000)}!` })).toMatchObject({
      ok: false,
      undecided: true,
      issue: expect.stringMatching(/^b: must have at most \d+ characters$/),
    })
    expect(await check({ b: '1' })).toMatchObject({ ok: false, issue: expect.stringMatching(/\[a-z\]/) })
  },
)

test('a template that may be read in many ways accepts short texts only', async () => {
  const b = z.templateLiteral([z.string(), '-', z.string(), '-', z.string(), '!'])
  const { check } = toChecker(z.object({ b, note: z.string() }), 'input')
  expect(await check({ b: 'a-b-c!', note: long(1_000_000) })).toMatchObject({ ok: true })
  expect(await check({ b: '-'.repeat(2000), note: '' })).toMatchObject({ ok: false, undecided: true })
})

test('all texts of a value count together, wherever they are', async () => {
  const slow = z.string().regex(/[a-z]+$/)
  const node: z.ZodType = z.object({ text: slow, below: z.lazy(() => node).optional() })
  const places: Readonly<Record<string, readonly [z.ZodType, (text: string, count: number) => unknown]>> = {
    list: [z.array(slow), (text, count) => Array.from({ length: count }, () => text)],
    tuple: [z.tuple([z.number(), slow]).rest(slow), (text, count) => [1, ...Array(count).fill(text)]],
    record: [z.record(z.string(), slow), (text, count) => numbered(count, () => text)],
    names: [z.record(slow, z.number()), (text, count) => numbered(count, () => 1, text)],
    union: [z.array(z.union([z.number(), slow])), (text, count) => Array(count).fill(text)],
    nested: [node, (text, count) => chain(text, count)],
  }
  for (const [place, [schema, make]] of Object.entries(places)) {
    const { check } = toChecker(z.object({ b: schema }), 'input')
    expect([place, await check({ b: make(long(20), 30) })]).toMatchObject([place, { ok: true }])
    expect([place, await check({ b: make(long(3000), 30) })]).toMatchObject([
      place,
      { ok: false, undecided: true },
    ])
  }
})

function numbered(count: number, value: () => unknown, name = ''): unknown {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${String.fromCharCode(97 + at)}x${name}`, value()]),
  )
}

function chain(text: string, count: number): unknown {
  return count === 1 ? { text } : { text, below: chain(text, count - 1) }
}

test('the flags of a regular expression of zod count', async () => {
  const make = (pattern: RegExp) => () => toChecker(z.object({ b: z.string().regex(pattern) }), 'input')
  expect(make(/^(a|A)*$/)).not.toThrow()
  expect(make(/^(a|A)*$/i)).toThrow(/unsafe/)
  expect(make(/^(k|\u212a)*$/iu)).toThrow(/unsafe/)
  expect(make(/^(.|\n)*$/)).not.toThrow()
  expect(make(/^(.|\n)*$/s)).toThrow(/unsafe/)
  expect(make(new RegExp('^[\\p{L}--[a-z]]+$', 'v'))).toThrow(/flag v/)
  const slow = make(/^\s*x/m)()
  expect(await slow.check({ b: '\n'.repeat(100_000) })).toMatchObject({ ok: false, undecided: true })
  expect(await make(/^\s*x/)().check({ b: `${' '.repeat(100_000)}x` })).toMatchObject({ ok: true })
})

test('patterns that zod shows but never matches do not limit a text', async () => {
  const shown = z.object({
    b: z.string().endsWith('!').startsWith('a').includes('b'),
    ip: z.ipv6().optional(),
  })
  const { check } = toChecker(shown, 'input')
  expect(await check({ b: `ab${long(1_000_000)}!` })).toMatchObject({ ok: true })
  const ips = toChecker(z.object({ b: z.array(z.ipv6()) }), 'input')
  expect(await ips.check({ b: Array(9000).fill('2001:db8:85a3::8a2e:370:7334') })).toMatchObject({ ok: true })
  const both = z.object({ b: z.string().endsWith('!'), c: z.string().regex(/.*!$/) })
  const limited = toChecker(both, 'input')
  expect(await limited.check({ b: '!', c: `${long(100_000)}!` })).toMatchObject({ undecided: true })
})

const ZOD_FORMATS = [
  z.email(), z.url(), z.httpUrl(), z.uuid(), z.guid(), z.emoji(), z.nanoid(), z.cuid2(), z.ulid(), z.xid(), z.ksuid(), z.ipv4(), z.ipv6(),
  z.mac(), z.cidrv4(), z.cidrv6(), z.base64(), z.base64url(), z.e164(), z.jwt(), z.hostname(), z.hex(), z.hash('sha256'),
  z.iso.date(), z.iso.time(), z.iso.datetime({ offset: true, local: true }), z.iso.duration(), z.string().lowercase(),
  z.email({ pattern: z.regexes.html5Email }), z.email({ pattern: z.regexes.rfc5322Email }), z.email({ pattern: z.regexes.unicodeEmail }),
] // oxfmt-ignore

const VALIBOT_FORMATS = [
  v.bic(), v.cuid2(), v.decimal(), v.digits(), v.domain(), v.email(), v.hexColor(), v.hexadecimal(), v.isoDate(), v.isoDateTime(),
  v.isoTimeSecond(), v.isoTimestamp(), v.isoWeek(), v.jwsCompact(), v.ksuid(), v.mac(), v.nanoid(), v.octal(), v.slug(), v.ulid(), v.url(), v.uuid(),
] // oxfmt-ignore

const ARKTYPE_FORMATS = [
  'string.email', 'string.url', 'string.uuid', 'string.date.iso', 'string.ip', 'string.semver', 'string.creditCard', 'string.base64', 'string.hex',
  'string.numeric', 'string.integer', 'string.alpha', 'string.alphanumeric', 'string.digits', 'string.capitalize.preformatted', 'string.regex',
] as const // oxfmt-ignore

test('the formats of the libraries are not refused', () => {
  for (const b of ZOD_FORMATS) expect(() => toChecker(z.object({ b }), 'input')).not.toThrow()
  for (const format of VALIBOT_FORMATS) {
    const b = v.pipe(v.string(), format as v.EmailAction<string, undefined>)
    expect(() => toChecker(toStandardJsonSchema(v.object({ b })), 'input')).not.toThrow()
  }
  for (const b of ARKTYPE_FORMATS)
    expect(() => toChecker(type({ b }) as unknown as StandardSchema, 'input')).not.toThrow()
})

test('a format whose pattern is exponential is refused like any other', () => {
  // 26 thumbs of some colour and a mark keep valibot busy for 15 s.
  const b = v.pipe(v.string(), v.emoji())
  expect(() => toChecker(toStandardJsonSchema(v.object({ b })), 'input')).toThrow(/unsafe pattern/)
})
