import { overlap, type Ranges, type Tree } from '../../src/schema/pattern-tree.ts'
import { mutateText } from './mutate.ts'
import type { Random } from './random.ts'

// oxfmt-ignore
const ATOMS = [
  'a', 'b', '.', '[ab]', '[^a]', '\\w', '\\d', '\\s', 'a?', 'b*', 'a+', '(a|b)', '(a|ab)', '(a*)', '(b?)', 'a{2}', 'b{1,3}', 'b{20}', '.{30}', 'a{2,}', 'a{100}',
  'é', '[^\\p{L}]', '[^\\P{L}]', '[^\\0]', '[^\\12]', '[^\\ud83d]', '[^\\c1]', '\\p{L}', '[\\p{L}b]', '\\P{N}', '(?=a)', '(?!b)', '(?=.*b)', '(?!\\s*$)', '(?<=a)', '(?<!ab?)', '\\b', '\\B', '[a-z0-9]', '|', '$', '^', '()', '(?:|)', '(?:|a)', 'ab', '(?:ab)',
  '\\-', '\\u{2}', '\\012', '\\c', '\\ud83d\\ude00', '😀', '(?<n>a)', 'a{0000000000000000000000000000000000000000000000000001,}', '\\x61', '\\u0061', '{', 'a{,2}',
]
const MARKS = ['', '', '', '*', '+', '?', '{3}', '{0,4}', '*?', '+?', '{2,}', '{0,40}', '{25}']
// oxfmt-ignore
const TOKENS = ['(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\', '^', '$', '.', '(?:', '(?=', '(?<n>', '\\1', '{2,}', '-', '\\u{1F600}', 'a', '😀', '(?<=', '\\b']

/** A pattern whose parts are likely to match the same text. */
export function anyPattern(random: Random): string {
  const pattern = parts(random, 2)
  const whole = random.oneIn(2) ? `^${pattern}$` : random.oneIn(3) ? `${pattern}$` : pattern
  return random.oneIn(6) ? mutateText(whole, random, TOKENS) : whole
}

function parts(random: Random, depth: number): string {
  const atoms = (): string => Array.from({ length: 1 + random.few(3) }, () => random.pick(ATOMS)).join('')
  const part = (): string => {
    if (random.oneIn(2)) return atoms()
    const body = depth > 0 && random.oneIn(3) ? parts(random, depth - 1) : atoms()
    return `${random.pick(['(?:', '(?:', '('])}${body})${random.pick(MARKS)}`
  }
  return Array.from({ length: 1 + random.few(4) }, part).join('')
}

/** Text that a pattern reads for long before it does not match: its own parts, each over and over, and something else in the end. */
export function stallingText(tree: Tree, random: Random, length: number): string {
  const sample = (): string => {
    const text = sampleOf(tree, random)
    return text === '' ? 'a' : text
  }
  const unit = random.oneIn(2) ? sample() : sample().slice(0, 1 + random.few(3))
  const before = random.oneIn(2) ? '' : sample().slice(0, length >> 1)
  const body = before + unit.repeat(Math.ceil(length / unit.length))
  return (
    body.slice(0, Math.max(0, length - 1)) +
    (length === 0 ? '' : random.pick(['', '!', '\n', 'b', unit.slice(0, 1)]))
  )
}

/** A text that a part may read; one character stands for all that a set can read together with others of the pattern. */
function sampleOf(tree: Tree, random: Random): string {
  switch (tree.kind) {
    case 'set':
      return String.fromCodePoint(pointOf(tree.ranges, random))
    case 'seq':
      return tree.parts.map((part) => sampleOf(part, random)).join('')
    case 'alt':
      return sampleOf(random.pick(tree.parts), random)
    case 'group':
      return sampleOf(tree.body, random)
    case 'repeat': {
      const times = random.oneIn(2) ? tree.min : Math.min(tree.max, tree.min + random.few(4))
      return sampleOf(tree.body, random).repeat(Math.min(times, 300))
    }
    default:
      return ''
  }
}

const COMMON = [97, 98, 32, 48, 0x1f600, 233, 10, 117]

function pointOf(ranges: Ranges, random: Random): number {
  const common = COMMON.filter((point) => overlap(ranges, [[point, point]]))
  const [from] = random.pick(ranges.length === 0 ? [[97, 97]] : ranges)
  return random.oneIn(8) || common.length === 0 ? from! : random.oneIn(3) ? random.pick(common) : common[0]!
}
