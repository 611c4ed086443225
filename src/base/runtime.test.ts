import { expect, onTestFinished, test, vi } from 'vitest'
import { readEnv } from './runtime.ts'

const NAME = 'PIERHEAD_RUNTIME_TEST'

function stubVariable(): void {
  vi.stubEnv(NAME, 'value')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  })
}

test('a variable is read where there is an environment', () => {
  stubVariable()
  expect([readEnv(NAME), readEnv(`${NAME}_ABSENT`)]).toEqual(['value', undefined])
  vi.stubGlobal('process', {})
  expect(readEnv(NAME)).toBeUndefined()
  vi.stubGlobal('process', undefined)
  expect(readEnv(NAME)).toBeUndefined()
})

test.each([
  ['granted', 'value'],
  ['prompt', undefined],
  ['denied', undefined],
])('on Deno a variable with permission %s is read as %s', (state, expected) => {
  stubVariable()
  const querySync = vi.fn<(permission: object) => object>(() => ({ state }))
  vi.stubGlobal('Deno', { permissions: { querySync } })
  expect(readEnv(NAME)).toBe(expected)
  expect(querySync).toHaveBeenCalledWith({ name: 'env', variable: NAME })
})
