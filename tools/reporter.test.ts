import { expect, test } from 'vitest'
import { closingLine, type TestResult } from './reporter.ts'

const result = (state: TestResult['state']): TestResult => ({ file: 'a.test.ts', title: 'a title', state })

test('the closing line counts what passed and what failed', () => {
  expect(closingLine([result('passed'), result('passed'), result('failed')], 0)).toBe('2 passed, 1 failed')
})

test('a file that broke before its tests is a failure', () => {
  expect(closingLine([result('passed')], 1)).toBe('1 passed, 1 failed')
})

test('skipped tests are named only when there are some', () => {
  expect(closingLine([result('passed'), result('skipped')], 0)).toBe('1 passed, 0 failed, 1 skipped')
})
