import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBounded } from './bounds.ts'
import { processorMs } from '../../test/harness/processor.ts'

const NONE = { depth: 128, values: Infinity, keys: Infinity, containers: Infinity, stringLength: Infinity }

/** How many members all objects of a value have. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, one) => sum + membersOf(one), own)
}

/** The longest string of a value, keys included, as it is written. */
function longestOf(value: unknown): number {
  if (typeof value === 'string') return JSON.stringify(value).length - 2
  if (typeof value !== 'object' || value === null) return 0
  const keys = Array.isArray(value) ? [] : Object.keys(value)
  return Math.max(0, ...[...keys, ...Object.values(value)].map(longestOf))
}

const request = fc
  .jsonValue({ maxDepth: 5 })
  .map((value) => ({ jsonrpc: '2.0', id: 1, method: 'x', params: { arguments: value } }))

test('members and strings of any message are counted exactly, however it is spaced', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(undefined, 1, '\t'), (message, space) => {
      const text = JSON.stringify(message, undefined, space)
      const [members, longest] = [membersOf(message), longestOf(message)]
      readBounded(text, { ...NONE, keys: members, stringLength: longest })
      expect(() => readBounded(text, { ...NONE, keys: members - 1 })).toThrow(
        `the message has more than ${members - 1} object members`,
      )
      expect(() => readBounded(text, { ...NONE, stringLength: longest - 1 })).toThrow(
        `a string in the message is longer than ${longest - 1} characters`,
      )
    }),
  )
})

test('a batch counts as a whole, and text that is not JSON is refused as such', () => {
  const batch = '[{"a":1},{"a":1,"b":{"c":":"}}]'
  expect(readBounded(batch, { ...NONE, keys: 4 })).toHaveLength(2)
  expect(() => readBounded(batch, { ...NONE, keys: 3 })).toThrow(/more than 3 object members/)
  for (const text of ['"', '"a":', '"'.repeat(1001), `"${'\\'.repeat(1001)}`, ':::::', '{"a"'])
    expect(() => readBounded(text, { ...NONE, keys: 2000, stringLength: 2000 })).toThrow(/not valid JSON/)
})

test('ten megabytes of anything are looked through in time', async () => {
  const size = 10_000_000
  for (const piece of ['"', '\\"', '"\\', '":', '"" ', ' ', '":"', '{"a":1}']) {
    const text = piece.repeat(size / piece.length)
    const ms = await processorMs(() =>
      expect(() => readBounded(text, { ...NONE, keys: size / 2, stringLength: 1000 })).toThrow(
        /valid JSON|longer than|more than|batch|object/,
      ),
    )
    expect(ms).toBeLessThan(3000)
  }
})
