import { expect, test } from 'vitest'
import { parsePattern, type Tree } from './pattern-tree.ts'
import { provePattern } from './pattern.ts'
import { processorMs } from '../../test/harness/processor.ts'

/** The places at which classes of characters begin or end, and what is beside them. */
const EDGES = [
  0, 0x7f, 0x85, 0xa0, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff, 0xffff, 0x1f600, 0x10ffff,
] // oxfmt-ignore
const POINTS: readonly number[] = [
  ...Array.from({ length: 0x80 }, (_, point) => point),
  ...EDGES.flatMap((edge) => [edge - 1, edge, edge + 1]).filter((point) => point >= 0 && point <= 0x10ffff),
]

/** The tree of a pattern of one part, without the sequences around it. */
function partOf(source: string): Tree | string {
  let tree = parsePattern(source, true)
  while (typeof tree === 'object' && tree.kind === 'seq' && tree.parts.length === 1) tree = tree.parts[0]!
  return tree
}

/** The code points that one character of a pattern is judged to match. */
function judged(source: string): readonly number[] {
  const tree = partOf(source) as Tree & { kind: 'set' }
  expect(tree).toMatchObject({ kind: 'set' })
  return POINTS.filter((point) => tree.ranges.some(([from, to]) => from <= point && point <= to))
}

function matched(source: string): readonly number[] {
  const engine = new RegExp(`^(?:${source})$`, 'u')
  return POINTS.filter((point) => engine.test(String.fromCodePoint(point)))
}

// oxfmt-ignore
const CHARACTERS = [
  '.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\n', '\\r', '\\t', '\\v', '\\f', '\\x41', '\\u0041', '\\u{1F600}', '\\cA', '\\cz',
  '\\.', '\\\\', 'a', '[a-z]', '[^a-z]', '[abc]', '[\\d-]', '[-a]', '[\\b]', '[^\\s]', '[\\w.]', '[\\x00-\\x1f]', '[\\u{1F600}-\\u{1F64F}]', '[^]',
]

test.each(CHARACTERS)('%s is judged to match what it matches', (source) => {
  expect(judged(source)).toEqual(matched(source))
})

test('what is not known exactly is judged to match more', () => {
  for (const source of ['\\p{L}', '\\P{L}', '[^\\p{L}]', '[^a\\P{L}]', '[^\\ud83d]', '[^\\x00-\\ud800]'])
    expect(judged(source)).toEqual(POINTS)
  expect(judged('\\ud83d')).toEqual(POINTS.filter((point) => point >= 0xd800))
})

test.each([
  ['(?=a)', 'look'],
  ['(?!a)', 'look'],
  ['(?<=a)', 'look'],
  ['(?<!a)', 'look'],
  ['(?<name>a)', 'group'],
  ['(?:a)', 'set'],
  ['(a)', 'group'],
  ['\\b', 'edge'],
  ['\\B', 'edge'],
])('%s is read as %s', (source, kind) => {
  expect(partOf(source)).toMatchObject({ kind })
})

test('four word edges side by side are judged, and five are not', () => {
  expect(provePattern(`a${'\\b'.repeat(4)}`).cost).not.toBe('unsafe')
  expect(provePattern(`a${'\\b'.repeat(5)}`)).toMatchObject({
    cost: 'unsafe',
    reason: 'it has more than 4 word edges side by side',
  })
})

test('a pattern may have 2000 characters and 1000 parts, and no more', () => {
  const spaced = (length: number): string => `a${'|'.repeat(length - 1)}`
  expect(provePattern(spaced(2000))).not.toMatchObject({ reason: 'it is longer than 2000 characters' })
  expect(provePattern(spaced(2001))).toMatchObject({ reason: 'it is longer than 2000 characters' })
  expect(provePattern(`^${'a'.repeat(1000)}`)).toMatchObject({ cost: 'linear' })
  expect(provePattern(`^${'a'.repeat(1001)}`)).toMatchObject({ reason: 'it has more than 1000 parts' })
})

test.each(['a', 'a{2}', '\\x41', '\\u0041', '\\07', '😀{2}', '{'])(
  'many times %s is read in linear time',
  async (part) => {
    const source = part.repeat(20_000)
    const ms = await processorMs(() => parsePattern(source, part.includes('😀')))
    expect(ms).toBeLessThan(2000)
  },
)

test('bounds are read behind characters of two units', () => {
  expect(parsePattern('😀{2,3}b{4}c{5,}', true)).toMatchObject({
    parts: [
      { min: 2, max: 3 },
      { min: 4, max: 4 },
      { min: 5, max: Infinity },
    ],
  })
})
