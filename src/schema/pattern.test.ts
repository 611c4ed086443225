import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_QUADRATIC, provePattern, toMatcher } from './pattern.ts'
import { processorMs } from '../../test/harness/processor.ts'

const EXPONENTIAL = [
  '^(a+)+$', '(a|a)*b', '(.*)*', '(a*)*', '(x+x+)+y', '^(\\s*foo\\s*)*$', '^(a{1,3})*$', '^((ab)*)*$', '^(?:a|b|ab)*$',
  '^(a?){20}a{20}$', '^((a?|b?)c)*$', '^((a?)+b)*$', '^(?:(?:|)a)*$', '^(a{0,1000}){0,1000}$', '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^(\\w|\\d)+$', '^(?:[^x]|\\S)*y$', '^(?=(a+)+b).*$', `^${'a?'.repeat(30)}a$`, `^${'(a|a)'.repeat(40)}$`, `^${'(|)'.repeat(500)}b$`,
] // oxfmt-ignore

test.each(EXPONENTIAL)('a pattern that can backtrack without end is unsafe: %s', (source) => {
  expect(provePattern(source).cost).toBe('unsafe')
})

const OTHERWISE_UNSAFE = [
  ['(a)\\1', 'back-reference'],
  ['(?<n>a)\\k<n>', 'back-reference'],
  ['(?:(?=a)a)*', 'look-around'],
  ['[', 'not a regular expression'],
  ['^\\s*(.*?)\\s*$', 'cubic'],
  ['^.*foo.*bar.*$', 'cubic'],
  ['a'.repeat(2001), 'longer than'],
  [`^(?:${'[a-z]{100}'.repeat(20)})$`, 'more than 1000 parts'],
  [`${'('.repeat(101)}a${')'.repeat(101)}`, 'nested deeper'],
] as const

test.each(OTHERWISE_UNSAFE)('the verdict on %s says why', (source, reason) => {
  expect(provePattern(source)).toMatchObject({ cost: 'unsafe', reason: expect.stringContaining(reason) })
})

/** 256 ways through one text, and half of them. */
const TOO_MANY = '(?:c|c)'.repeat(8)
const NOT_TOO_MANY = '(?:c|c)'.repeat(7)

test.each(
  ['', 'x*|', 'x*|y*|', 'x*|y*|z*|', 'x*|(?:y*z)*|', 'ax*|'].flatMap((loops) =>
    [0, 1, 2, 3, 4].map((at) => [loops, at] as const),
  ),
)('ways that double are counted behind any loops and letters, such as %s and %i', (loops, letters) => {
  const around = (ways: string): string => `^(?:${loops}${'ab'.repeat(2).slice(0, letters)}${ways})$`
  const reason = 'its parts can share the same text in too many ways'
  expect(provePattern(around(TOO_MANY))).toEqual({ cost: 'unsafe', reason })
  expect(provePattern(around(NOT_TOO_MANY))).toMatchObject({ cost: 'linear' })
})

const LINEAR = [
  '', '^$', 'foo', '\\S+', '^[a-z]+$', '^\\d{4}-\\d{2}-\\d{2}$', '^([0-9a-f]{2}){3}$', '^(\\d{1,3}\\.){3}\\d{1,3}$', '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  '^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$', '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$', '^x-', '_id$',
  '^[\\w%+.-]+@[\\d.A-Za-z-]+\\.[A-Za-z]{2,}$', '^([^"\\\\]|\\\\.)*$', '^\\p{L}+$', '^\\u{1F600}*$', '^(a|b)*?$', '^[^\\]]+$', '^\\-a$',
  '^(?:[A-Za-z0-9_\'+\\-]+\\.)*[A-Za-z0-9_\'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$',
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$',
] // oxfmt-ignore

test.each(LINEAR)('an everyday pattern is linear: %s', (source) => {
  expect(provePattern(source)).toMatchObject({ cost: 'linear' })
})

test.each(['(?=a)^[a-z]+$', '\\b^[a-z]+$'])('what only looks may stand before an anchor: %s', (source) => {
  expect(provePattern(source)).toMatchObject({ cost: 'linear' })
})

test.each(['[a-z]+$', '^(?=.*\\d)(?=.*[a-z]).{8,64}$', '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', '^\\d+\\d+$'])(
  'a quadratic pattern is matched only against strings of bounded length: %s',
  (source) => {
    expect(provePattern(source).cost).toBe('quadratic')
    expect(toMatcher(source).test(`a1@b.c${'1'.repeat(MAX_QUADRATIC)}`)).toBe(false)
  },
)

test('a pattern that is not a Unicode expression still matches', () => {
  expect(toMatcher('^\\-a$').test('-a')).toBe(true)
})

test('the matcher of an unsafe pattern matches nothing', () => {
  expect(toMatcher('(a+)+').test('a')).toBe(false)
})

test('no short pattern that passes takes long on text made to stall it', async () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '\\w',
    'a?',
    'b*',
    'a+',
    '(a|b)',
    '(a|ab)',
    '(a*)',
    '(b?)',
    'a{2}',
    'b{1,3}',
  )
  const loop = fc.tuple(
    fc.array(atom, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '*', '+', '?', '{3}', '{0,4}'),
  )
  const pattern = fc
    .array(loop, { minLength: 1, maxLength: 3 })
    .map((parts) => `^${parts.map(([atoms, mark]) => `(?:${atoms.join('')})${mark}`).join('')}$`)
  let passed = 0
  await fc.assert(
    fc.asyncProperty(pattern, async (source) => {
      if (provePattern(source).cost === 'unsafe') return
      passed++
      const matcher = toMatcher(source)
      const ms = await processorMs(() => {
        for (const unit of ['a', 'b', 'ab', 'aab']) matcher.test(`${unit.repeat(600 / unit.length)}!`)
      })
      expect(ms).toBeLessThan(500)
    }),
    { numRuns: 1500 },
  )
  expect(passed).toBeGreaterThan(100)
})
