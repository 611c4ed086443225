import { parsePattern, type Tree } from '../../../src/schema/pattern-tree.ts'
import { provePattern, toMatcher } from '../../../src/schema/pattern.ts'
import { startCounting, TooCostly } from '../../../src/schema/work.ts'
import { backtrack, hasLooks } from '../backtracker.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { anyPattern, stallingText } from '../patterns.ts'
import { anyText } from '../values.ts'

interface Input {
  readonly pattern: string
  readonly text: string
}

/** Steps after which a match is not followed any further. */
const MOST_STEPS = 300_000

/** A pattern that passes matches as the language says, and no text takes more steps than were proven. */
export const patternTarget: Target = target<Input>({
  name: 'pattern',
  share: 2,
  make(random) {
    const pattern = anyPattern(random)
    const tree = treeOf(pattern)
    const length = random.oneIn(4) ? 40 + random.below(200) : random.below(40)
    return {
      pattern,
      text: tree === undefined || random.oneIn(8) ? anyText(random) : stallingText(tree, random, length),
    }
  },
  check({ pattern, text }) {
    const verdict = provePattern(pattern)
    const matcher = toMatcher(pattern)
    if (verdict.cost === 'unsafe')
      return claim(!matcher.test(text) && verdict.reason !== '', 'an unsafe pattern matches')
    const { curve, unicode } = verdict
    const points = unicode
      ? Array.from(text, (point) => point.codePointAt(0)!)
      : [...Array(text.length).keys()].map((at) => text.charCodeAt(at))
    const tree = treeOf(pattern)!
    const { matched, steps } = backtrack(tree, points, MOST_STEPS)
    const most = curve.steps(text.length)
    claim(steps <= most, `a match takes more steps than were proven: ${steps} > ${most}`)
    startCounting()
    const matches = tried(() => matcher.test(text))
    const really = new RegExp(pattern, unicode ? 'u' : '').test(text)
    claim(matches === (text.length > matcher.limit ? undefined : really), 'a pattern matches otherwise')
    if (isExact(pattern, tree) && steps < MOST_STEPS)
      claim(matched === really, 'a pattern is taken for another')
    claim(
      curve.slope !== undefined || tried(() => matcher.test('a'.repeat(matcher.limit + 1))) === undefined,
      'a string beyond the limit is matched',
    )
  },
})

function tried(test: () => boolean): boolean | undefined {
  try {
    return test()
  } catch (thrown) {
    if (thrown instanceof TooCostly) return undefined
    throw thrown
  }
}

/** Whether the analysis knows exactly which texts match. */
function isExact(pattern: string, tree: Tree): boolean {
  return !hasLooks(tree) && !/\\[\dcpP]|\\u\{?0*d|[\ud800-\udfff]/i.test(pattern)
}

function treeOf(pattern: string): Tree | undefined {
  for (const flags of ['u', '']) {
    try {
      RegExp(pattern, flags)
    } catch {
      continue
    }
    const tree = parsePattern(pattern, flags === 'u')
    return typeof tree === 'string' ? undefined : tree
  }
  return undefined
}
