import { expect } from 'vitest'
import { McpError } from '../../src/index.ts'

/** The error of a rejected promise, which must be an McpError. */
export async function failureOf(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(McpError)
  return error as McpError
}
