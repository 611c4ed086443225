import { expect, it } from 'vitest'
import { Output } from '../../src/cli/output.ts'
import { safeLine } from '../../src/cli/safe-text.ts'

it('a line that was cut off before its spaces were joined ends with an ellipsis too', () => {
  expect(safeLine(`a${' '.repeat(38)}bc`, 10)).toBe('a b…')
  expect(safeLine('a  b', 10)).toBe('a b')
})

it.each([
  ['its last character', 1],
  ['half', 20],
  ['most of it', 36],
])('a secret without %s is hidden where a line was cut off', (_, left) => {
  const output = new Output({ stdout: {}, stderr: {}, env: {} } as never)
  const secret = 'SECRETabcdefghijklmnopqrstuvwxyz01234567'
  output.hide([secret, 'another secret'])
  const start = 'x'.repeat(200 - 1 - secret.length + left)
  const cut = safeLine(start + secret + 'y'.repeat(left))
  expect(cut).toMatch(/xSECR.*…$/)
  expect(output.redacted(`"${cut}" and "${cut}" are missing … and ${secret}`)).toBe(
    `"${start}***…" and "${start}***…" are missing … and ***`,
  )
})

it('a secret that was cut off without an ellipsis is hidden if half of it is there', () => {
  const output = new Output({ stdout: {}, stderr: {}, env: {} } as never)
  output.hide(['SECRETabcdefghijklmnop', '/home/ada/config.json', 'short12'])
  expect(output.redacted('"xSECRETabcde" is unknown: xSECRETabcdef')).toBe('"x***" is unknown: x***')
  // Less may be anything, and what goes on differently is something else.
  const other = '"SECRETabcd" SECRETabcdefz /home/ada/config/x /home/ada/other shor short1'
  expect(output.redacted(other)).toBe(other)
})
