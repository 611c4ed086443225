import { expect, test, vi } from 'vitest'
import { endOfString } from './skip.ts'

test.each([
  ['a quote', '"', 0],
  ['letters', 'abc"', 3],
  ['an escaped quote', String.raw`a\"b"`, 4],
  ['an escaped backslash before the end', String.raw`a\\"`, 3],
  ['both', String.raw`\\\"\\"`, 6],
  ['escapes without a quote after them', String.raw`\n\t"`, 4],
  ['no end', 'abc', 3],
  ['no end after an escaped quote', String.raw`a\"b`, 4],
  ['no end after a backslash', String.raw`a\"b` + '\\', 5],
])('a string ends at its first quote that is not escaped: %s', (_title, text, end) => {
  expect(endOfString(text, 0)).toBe(end)
})

test('finding the end takes a constant number of searches, however many quotes are escaped', () => {
  const text = `${String.raw`\"`.repeat(10_000)}"`
  const search = vi.spyOn(String.prototype, 'indexOf')
  const end = endOfString(text, 0)
  const searches = search.mock.calls.length
  search.mockRestore()
  expect(end).toBe(20_000)
  expect(searches).toBeLessThan(5)
})
