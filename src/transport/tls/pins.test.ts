import { expect, test } from 'vitest'
import { readPins } from './pins.ts'

test('of a long text that is no fingerprint, the error shows the beginning', () => {
  const shown = 'x'.repeat(128)
  expect(() => readPins('tls.pin', `${shown}y`)).toThrow(`tls.pin: "${shown}" is not a SHA-256 fingerprint`)
})
