import { expect, test } from 'vitest'
import { toReason } from './endings.ts'

test('the reason of a server for closing a connection stays in its line', () => {
  expect(toReason(4000, 'bye\nFAKE LOG LINE\u2028').message).toBe(
    'the server closed the connection with code 4000: bye\\nFAKE LOG LINE\\u2028',
  )
})
