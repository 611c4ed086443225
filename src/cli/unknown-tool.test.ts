import { expect, test } from 'vitest'
import { unknownTool } from './unknown-tool.ts'

test('names of tools stay in one line of the message', () => {
  const { message, hint } = unknownTool('ad', ['add\nFAKE LINE', 'sub'])
  expect(`${message} ${hint}`).not.toContain('\n')
  expect(hint).toBe('The tools are add FAKE LINE, sub.')
})
