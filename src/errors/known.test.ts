import { expect, test } from 'vitest'
import * as base from './base.ts'
import * as client from './client.ts'
import { McpError, mcpError, rowOf } from './error.ts'
import { QUEUE_FULL } from './limits.ts'
import * as rpc from './rpc.ts'
import * as transport from './transport.ts'
import * as wire from './wire.ts'

// This file must not load all.ts, which a client without a server does not load either.
test('an error that is created from its row means the same whatever else is loaded', () => {
  expect(new McpError('queue_full', 'by its kind').code).not.toBe(QUEUE_FULL.code)
  const error = mcpError(QUEUE_FULL, { limit: 1 })
  expect(error).toMatchObject({ kind: 'queue_full', code: QUEUE_FULL.code, hint: QUEUE_FULL.hint })
  expect(rowOf(error.kind)).toBe(QUEUE_FULL)
})

test('the errors of both sides can be named by kind from the start', () => {
  const rows = [base, client, rpc, transport, wire].flatMap((module) => Object.values(module))
  expect(rows.map(({ kind }) => rowOf(kind))).toEqual(rows)
})
