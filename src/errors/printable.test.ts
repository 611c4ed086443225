import { expect, test } from 'vitest'
import { oneLine, printable, unbroken } from './printable.ts'

test('control and direction characters are written as escapes of four digits', () => {
  expect(printable('\u0000\u0007\u001b[31m\r\u007f\u0085')).toBe(
    String.raw`\u0000\u0007\u001b[31m\u000d\u007f\u0085`,
  )
  expect(printable('\u061c\u200e\u200f\u202a\u202e\u2066\u2069')).toBe(
    String.raw`\u061c\u200e\u200f\u202a\u202e\u2066\u2069`,
  )
})

test('line breaks, tabs and every other character stay', () => {
  const text = 'a\tb\nc – Ü 漢字 👍 \\u0000'
  expect(printable(text)).toBe(text)
})

test('half a character is escaped, because strict readers of JSON reject it', () => {
  expect(printable('a\ud83d')).toBe('a\\ud83d')
  expect(printable('\ude00b')).toBe('\\ude00b')
  expect(printable('😀')).toBe('😀')
})

test('a long text is cut before it is escaped, which makes it up to six times as long', () => {
  const longest = 'x'.repeat(65_536)
  expect(printable(longest)).toBe(longest)
  expect(printable(`${longest}y`)).toBe(`${longest}…`)
  expect(printable('\u007f'.repeat(1_000_000))).toHaveLength(6 * 65_536 + 1)
})

test('in one line, line breaks of every kind are escaped, and tabs as well', () => {
  expect(unbroken('a\nb\u2028c\u2029d\te')).toBe('a\\nb\\u2028c\\u2029d\te')
  expect(oneLine('a\nb\u2028c\td\u001b')).toBe('a\\nb\\u2028c\\u0009d\\u001b')
})
