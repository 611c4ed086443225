import { expect, test } from 'vitest'
import { McpError, mcpError, rowOf } from './error.ts'
import { QUEUE_FULL } from './limits.ts'

// This file must not load all.ts, which a client without a server does not load either.
test('an error that is created from its row means the same whatever else is loaded', () => {
  expect(new McpError('queue_full', 'by its kind').code).not.toBe(QUEUE_FULL.code)
  const error = mcpError(QUEUE_FULL, { limit: 1 })
  expect(error).toMatchObject({ kind: 'queue_full', code: QUEUE_FULL.code, hint: QUEUE_FULL.hint })
  expect(rowOf(error.kind)).toBe(QUEUE_FULL)
})
