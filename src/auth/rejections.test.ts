import { expect, onTestFinished, test, vi } from 'vitest'
import type { Rejected } from '../transport/http/server/auth-method.ts'
import { createRejectionLog } from './rejections.ts'

function failure(cause: unknown, why: string = 'bearer failed'): Rejected {
  return { rejected: 'unavailable', why, cause }
}

test('failures are told apart by their method and the kind of their error, whatever its message is', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const log = createRejectionLog({
    report: (_level, text, facts) => void lines.push(`${text} ${show(facts)}`),
  })
  for (let number = 0; number < 300; number++) {
    log(failure(new SyntaxError(`token ${number}`)), undefined)
    log(failure(new TypeError(`token ${number}`)), undefined)
    log(failure(`token ${number}`, 'oauth failed'), undefined)
  }
  expect(lines).toEqual([
    'a token could not be verified: bearer failed SyntaxError: token 0',
    'a token could not be verified: bearer failed TypeError: token 0',
    'a token could not be verified: oauth failed token 0',
  ])
  vi.advanceTimersByTime(1001)
  log(failure(new SyntaxError('token 300')), undefined)
  expect(lines.at(-1)).toBe(
    'a token could not be verified: bearer failed SyntaxError: token 300 (299 before)',
  )
})

test('more reasons than are told apart share one place, and do not make room for those that were reported', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let count = 0
  const log = createRejectionLog({ report: () => void count++ })
  for (let round = 0; round < 3; round++)
    for (let number = 0; number < 500; number++)
      log(failure(Object.assign(new Error('x'), { name: `Error${number}` })), undefined)
  expect(count).toBe(101)
})

function show(facts: object | undefined): string {
  const { error, suppressed } = facts as { readonly error: unknown; readonly suppressed?: number }
  return `${String(error)}${suppressed === undefined ? '' : ` (${suppressed} before)`}`
}
