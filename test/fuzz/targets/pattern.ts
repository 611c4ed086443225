import { MAX_QUADRATIC, provePattern, toMatcher } from '../../../src/schema/pattern.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly pattern: string
  readonly text: string
}

const ATOMS = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\d',
  '\\s',
  'a?',
  'b*',
  'a+',
  '(a|b)',
  '(a|ab)',
  '(a*)',
  '(b?)',
  'a{2}',
  'b{1,3}',
  'é',
  '\\p{L}',
  '(?=a)',
  '(?!b)',
  '\\b',
  '[a-z0-9]',
  '|',
  '$',
  '^',
]
const MARKS = ['', '', '', '*', '+', '?', '{3}', '{0,4}', '*?', '+?']
const TOKENS = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '*',
  '+',
  '?',
  '|',
  '\\',
  '^',
  '$',
  '.',
  '(?:',
  '(?=',
  '(?<n>',
  '\\1',
  '{2,}',
  '-',
  '\\u{1F600}',
  'a',
  '😀',
]
/** Far more than any linear or quadratic match of such texts needs, even on a machine that is busy. */
const LONG_MS = 1500

/** A pattern that passes matches as the language says, and no text makes it take long. */
export const patternTarget: Target = target<Input>({
  name: 'pattern',
  share: 2,
  make(random) {
    const pattern = patternOf(random)
    const unit = random.oneIn(3)
      ? anyText(random, 4)
      : random.pick(['a', 'b', 'ab', 'aab', 'a1', ' a', 'é', '\n'])
    return {
      pattern,
      text: random.oneIn(2)
        ? anyText(random)
        : unit.repeat(Math.ceil(700 / (unit.length + 1))) + random.pick(['', '!', 'b']),
    }
  },
  check({ pattern, text }) {
    const verdict = provePattern(pattern)
    const matcher = toMatcher(pattern)
    if (verdict.cost === 'unsafe')
      return claim(!matcher.test(text) && verdict.reason !== '', 'an unsafe pattern matches')
    const begun = performance.now()
    const matches = matcher.test(text)
    const first = performance.now() - begun
    if (first > LONG_MS) {
      const again = performance.now()
      matcher.test(text)
      claim(performance.now() - again < LONG_MS, `a ${verdict.cost} pattern took ${first} ms`)
    }
    const tooLong = verdict.cost === 'quadratic' && text.length > MAX_QUADRATIC
    claim(
      matches === (!tooLong && new RegExp(pattern, verdict.unicode ? 'u' : '').test(text)),
      'a pattern matches otherwise',
    )
    claim(
      verdict.cost === 'linear' || !matcher.test('a'.repeat(MAX_QUADRATIC + 1)),
      'a quadratic pattern is matched against a long text',
    )
  },
})

function patternOf(random: Random): string {
  const atoms = (): string => Array.from({ length: 1 + random.few(3) }, () => random.pick(ATOMS)).join('')
  const parts = Array.from({ length: 1 + random.few(4) }, () =>
    random.oneIn(2) ? `(?:${atoms()})${random.pick(MARKS)}` : atoms(),
  )
  const pattern = random.oneIn(2) ? `^${parts.join('')}$` : parts.join('')
  return random.oneIn(4) ? mutateText(pattern, random, TOKENS) : pattern
}
