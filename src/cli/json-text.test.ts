import { expect, it } from 'vitest'
import { parseJsonc } from './jsonc.ts'
import { endOfText, numbersIn } from './json-text.ts'

it.each([
  ['"a"', 3],
  ['"a\\"b" ', 6],
  ['"a\\\\" ', 5],
  ['"a\nb"', 2],
  ['"a', 2],
  ['"a\\', 4],
])('finds the end of %j', (json, end) => {
  expect(Math.min(endOfText(json, 0), json.length)).toBe(Math.min(end, json.length))
})

it('finds numbers, but not those in texts', () => {
  expect([...numbersIn('{"1":-2.5e+3,"a":["3\\"4",5,-0],"b":{"c":67}}')]).toEqual([
    '-2.5e+3',
    '5',
    '-0',
    '67',
  ])
})

it.each(['x', '"', '\\', '1', '-'])('reads very long texts of %s', (char) => {
  const value = { text: char.repeat(4_000_000), number: 12 }
  const json = JSON.stringify(value)
  expect([...numbersIn(json)]).toEqual(['12'])
  expect(parseJsonc(json).value).toEqual(value)
})
