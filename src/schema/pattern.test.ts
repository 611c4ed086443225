import fc from 'fast-check'
import { expect, test } from 'vitest'
import { provePattern, toMatcher } from './pattern.ts'
import { startCounting, TooCostly } from './work.ts'
import { processorMs } from '../../test/harness/processor.ts'

const EXPONENTIAL = [
  '^(a+)+$', '(a|a)*b', '(.*)*$', '(a*)*b', '(x+x+)+y', '^(\\s*foo\\s*)*$', '^(a{1,3})*$', '^((ab)*)*$', '^(?:a|b|ab)*$',
  '^(a?){20}a{20}$', '^((a?|b?)c)*$', '^((a?)+b)*$', '^(?:(?:|)a)*$', '^(a{0,1000}){0,1000}$', '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^(\\w|\\d)+$', '^(?:[^x]|\\S)*y$', '^(?=(a+)+b).*$', `^${'a?'.repeat(30)}a$`, `^${'(a|a)'.repeat(40)}$`, `^${'(|)'.repeat(500)}b$`,
] // oxfmt-ignore

test.each(EXPONENTIAL)('a pattern that can backtrack without end is unsafe: %s', (source) => {
  expect(provePattern(source).cost).toBe('unsafe')
})

/** Patterns that only look harmless, each with what hides it. */
const HIDDEN = [
  ['^\\w*\\w*\\w*\\w*^', 'a start in the end'],
  ['^(?:\\w*\\w*\\w*\\w*^|b)', 'a start in the end of a branch'],
  ['[\\p{L}b]{3,}b{100}b{10}$', 'bounded repeats behind a loop'],
  ['.*b{100}$', 'a bounded repeat behind a loop'],
  ['.*b{200}$', 'a bounded repeat that is too long to be written out'],
  ['(?:.*b){0,4}$', 'a bounded repeat of a loop'],
  ['^(?:.*){4}\\b$', 'a bounded repeat of a loop, before a word edge'],
  ['^(?=\\w*\\w*\\w*\\w*!)', 'a look-ahead'],
  ['(?:(?=.*!)a)*b', 'a repeated look-ahead'],
  ['^(?:a(?=(|){30}b))*$', 'a look-ahead that is empty in many ways'],
  ['(?<=(?:a|a){30})b', 'a look-behind'],
  ['^(?:a(?:|){30})*$', 'nothing, in many ways'],
  ['^\\-?(u*\\u{2})*$', 'a repeat that would be a character with the Unicode flag'],
  ['^\\-?(\\012*)*$', 'one character of three digits'],
  ['^\\-?(\\c*c*)*c*c*c*$', 'a backslash'],
  [`^(a{${'0'.repeat(60)}1,}b?)*$`, 'zeros before a number'],
  ['^(\\ud83d\\ude00?){30}\\ud83d\\ude00{30}$', 'two halves of one character'],
  [`^(?:${'a|'.repeat(400)}b)*$`, 'many branches'],
  ['^([^\\0]+)+$', 'all but one character'],
  ['^/(?:[^/\\0]+/?)*$', 'a path'],
  ['^(?:[^\\p{L}]+)+$', 'all but letters'],
  ['^(?:[^\\P{L}]+)+$', 'all but what is no letter'],
  ['^(?:[^\\x00-\\ud7ff\\ud800]+)+$', 'all but half a character'],
  ['^\\-?(?:[^\\c1]+)+$', 'all but what follows a backslash'],
  ['^\\-?(?:[^\\1]+|[^\\12])+$', 'all but a character of one or two digits'],
] as const

test.each(HIDDEN)('the analysis of %s sees through %s', (source) => {
  const verdict = provePattern(source)
  expect(verdict.cost === 'unsafe' ? 0 : verdict.curve.limit).toBeLessThan(1000)
})

const OTHERWISE_UNSAFE = [
  ['(a)\\1', 'back-reference'],
  ['(?<n>a)\\k<n>', 'back-reference'],
  ['(?<=a*)b', 'without a bound'],
  ['(?<=(?=a)a)b', 'look-around in a look-behind'],
  ['(?:a?b?){200}', 'may be empty more than 128 times'],
  ['[', 'not a regular expression'],
  ['^.*a.*b.*c.*d$', 'in several ways, so that a string of 104 characters may take more than 33554432 steps'],
  ['^(?:\\d+,?){5,7}$', 'in several ways'],
  [`^(?:${'[a-z]?'.repeat(300)})x`, 'too large'],
  ['a'.repeat(2001), 'longer than'],
  [`^(?:${'[a-z]{100}'.repeat(20)})$`, 'more than 1000 parts'],
  [`${'('.repeat(101)}a${')'.repeat(101)}`, 'nested deeper'],
] as const

test.each(OTHERWISE_UNSAFE)('the verdict on %s says why', (source, reason) => {
  expect(provePattern(source)).toMatchObject({ cost: 'unsafe', reason: expect.stringContaining(reason) })
})

test.each(
  ['', 'x*|', 'x*|y*|', 'x*|y*|z*|', 'x*|(?:y*z)*|', 'ax*|'].flatMap((loops) =>
    [0, 1, 2, 3, 4].map((at) => [loops, at] as const),
  ),
)('ways that double are counted behind any loops and letters, such as %s and %i', (loops, letters) => {
  const steps = (doublings: number): number => {
    const ways = `${'ab'.repeat(2).slice(0, letters)}${'(?:c|c)'.repeat(doublings)}`
    const verdict = provePattern(`^(?:${loops}${ways})$`)
    return verdict.cost === 'unsafe' ? Infinity : verdict.curve.steps(100)
  }
  expect(steps(7)).toBeLessThan(100 * 2 ** 11)
  expect(steps(8) / steps(7)).toBeGreaterThan(1.9)
  expect(steps(26)).toBe(Infinity)
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

test.each([
  '^(?=.*\\d)(?=.*[a-z]).{8,64}$',
  '(?:(?!--)[a-z-])',
  '^(?!\\s*$).+',
  '(?<=\\$)\\d',
  '(a*)*',
  '^.*foo.*',
])('a look-around that is tried in one place, or that ends soon, is linear: %s', (source) => {
  expect(provePattern(source)).toMatchObject({ cost: 'linear' })
})

test.each(['[a-z]+$', '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', '^\\d+\\d+$', '(?:(?=a)a)*', '(?!\\s*$).+'])(
  'a pattern whose time grows faster than the length is matched only against strings of bounded length: %s',
  (source) => {
    expect(provePattern(source).cost).toBe('superlinear')
    const { limit, test: matches } = toMatcher(source)
    expect(limit).toBeGreaterThan(2500)
    expect(limit).toBeLessThan(5000)
    startCounting()
    expect(matches('1'.repeat(limit))).toBeTypeOf('boolean')
    expect(() => matches('1'.repeat(limit + 1))).toThrow(TooCostly)
  },
)

test('a pattern that takes many steps for each character is matched only against strings of bounded length', () => {
  const { limit } = toMatcher('^.*b{50}$')
  expect(limit).toBeGreaterThan(100_000)
  expect(limit).toBeLessThan(1_000_000)
  expect(toMatcher('^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$').limit).toBe(Infinity)
})

test('all strings of a value together take a bounded number of steps', () => {
  const { limit, test: matches } = toMatcher('[a-z]+$')
  const long = 'a'.repeat(limit)
  startCounting()
  expect([matches(long), matches(long), matches(long)]).toEqual([true, true, true])
  expect(() => matches(long) && matches(long)).toThrow(TooCostly)
  startCounting()
  expect(matches(long)).toBe(true)
})

test('a string for which the engine has too little memory is too costly', () => {
  expect(() => toMatcher('^(?:a|b)*$').test('ab'.repeat(10_000_000))).toThrow(TooCostly)
})

test('the steps of a length are between those of shorter and longer ones', () => {
  for (const source of ['^[a-z]+$', '[a-z]+$', '^.*b{50}$']) {
    const verdict = provePattern(source)
    if (verdict.cost === 'unsafe') throw new Error(verdict.reason)
    const steps = Array.from({ length: 300 }, (_, length) => verdict.curve.steps(length))
    expect(steps.every((each, length) => length === 0 || each > steps[length - 1]!)).toBe(true)
    expect(verdict.curve.steps(verdict.curve.limit)).toBeLessThanOrEqual(2 ** 25)
  }
})

test('a pattern that is not a Unicode expression still matches', () => {
  expect(toMatcher('^\\-a$').test('-a')).toBe(true)
})

test('the matcher of an unsafe pattern matches nothing', () => {
  expect(toMatcher('(a+)+$').test('a')).toBe(false)
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
      startCounting()
      const ms = await processorMs(() => {
        const length = Math.min(600, matcher.limit - 1)
        for (const unit of ['a', 'b', 'ab', 'aab']) matcher.test(`${unit.repeat(length / unit.length)}!`)
      })
      expect(ms).toBeLessThan(500)
    }),
    { numRuns: 1500 },
  )
  expect(passed).toBeGreaterThan(100)
})

test('a long string that takes many steps for each character is too costly, however long strings may be', () => {
  const { limit, test: matches } = toMatcher('x{14}y')
  expect(limit).toBe(Infinity)
  startCounting()
  expect(() => matches('x'.repeat(24_000_000))).toThrow(TooCostly)
})

const SEARCHED = [
  '\\p{Lu}\\d',
  '\\p{Lu}|^x',
  '^a|\\p{Lu}$',
  '(?<=^.)\\p{Lu}',
  '(?:^|b)\\p{Lu}',
  '\\u{1f600}',
  '[^\\p{L}]$',
  '(?<a>\\p{L})?$',
]

test.each(SEARCHED)('the matcher finds what the engine finds: %s', (source) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', 'x', 'A', 'Ä', '1', '\n', '😀', '\ud83d', '\ude00')),
      (chars) => {
        startCounting()
        const text = chars.join('')
        expect(toMatcher(source).test(text)).toBe(new RegExp(source, 'u').test(text))
      },
    ),
  )
})
