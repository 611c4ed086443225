import { expect, test } from 'vitest'
import { closingLine, schemaLine, type TestResult } from './reporter.ts'

const result = (state: TestResult['state']): TestResult => ({ file: 'a.test.ts', title: 'a title', state })

test('the closing line counts what passed and what failed', () => {
  expect(closingLine([result('passed'), result('passed'), result('failed')], 0)).toBe('2 passed, 1 failed')
})

test('a file that fails before its tests counts as a failure', () => {
  expect(closingLine([result('passed')], 1)).toBe('1 passed, 1 failed')
})

test('skipped tests are mentioned only if there are any', () => {
  expect(closingLine([result('passed'), result('skipped')], 0)).toBe('1 passed, 0 failed, 1 skipped')
})

test('messages that schemas checked, or could not check, are counted over all files', () => {
  const counts = [{ checked: 5, unchecked: 0 }, undefined, { checked: 2, unchecked: 1 }]
  expect(schemaLine(counts)).toBe('\n7 messages checked against schemas, 1 could not be checked\n')
  expect(schemaLine([undefined])).toBe('')
})
