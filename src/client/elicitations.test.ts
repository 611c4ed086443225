import { expect, test } from 'vitest'
import { Elicitations } from './elicitations.ts'

test('ids are remembered up to a number and a length', () => {
  const elicitations = new Elicitations()
  for (let index = 0; index < 1001; index++) elicitations.expect({ elicitationId: `id ${index}` })
  expect(elicitations.complete('id 0')).toBe(false)
  expect(elicitations.complete('id 1')).toBe(true)
  expect(elicitations.complete('id 1')).toBe(false)
  for (const length of [1024, 1025]) elicitations.expect({ elicitationId: 'x'.repeat(length) })
  expect(elicitations.complete('x'.repeat(1024))).toBe(true)
  expect(elicitations.complete('x'.repeat(1025))).toBe(false)
})
