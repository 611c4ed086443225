import { expect, test } from 'vitest'
import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { ToolError } from '../errors/tool-error.ts'
import { readDescriptor, readListed, readResult } from './answers.ts'
import type { ResultEnvelope } from './envelopes.ts'

function thrownBy(act: () => unknown): McpError {
  try {
    act()
  } catch (thrown) {
    return thrown as McpError
  }
  throw new Error('nothing was thrown')
}

function errorOf(error: unknown): McpError {
  return thrownBy(() => readResult({ status: 'error', error } as unknown as ResultEnvelope))
}

const REFUSAL = { code: 1026, name: 'INVALID_SESSION_ID' }

test('an error of the server keeps its code, its message, its data and its refusal', () => {
  expect(errorOf({ code: -1, message: 'no', data: { a: 1 }, refusal: REFUSAL })).toMatchObject({
    code: -1,
    message: 'no',
    refusal: 'INVALID_SESSION_ID',
    data: { a: 1, refusal: REFUSAL },
  })
  expect(errorOf({ code: -1, message: 'no', data: { a: 1 } }).data).toEqual({ a: 1 })
  expect(errorOf({ code: -1, message: 'no', refusal: REFUSAL }).data).toEqual({ refusal: REFUSAL })
  for (const odd of [undefined, null, 'text', [1]])
    expect(errorOf({ code: -1, message: 'no', data: odd, refusal: odd }).data).toBeUndefined()
})

test('the server rejects a handshake with the same error', () => {
  const error = { code: -1, message: 'no', data: { supported: ['2025-11'] } }
  expect(thrownBy(() => readDescriptor({ error }))).toMatchObject({ message: 'no', data: error.data })
})

test('an error without a code or a message is a bad answer', () => {
  for (const error of [
    undefined,
    null,
    'no',
    {},
    { code: -1 },
    { message: 'no' },
    { code: '1', message: 'no' },
  ])
    expect(errorOf(error)).toMatchObject({ kind: 'bad_answer' })
})

test('a tool that failed throws its text and its data', () => {
  const result: JsonObject = { _meta: { 'dev.pierhead/data': { a: 1 } } }
  const failed = thrownBy(() =>
    readResult({ status: 'error', result, error: { message: 'no' } } as unknown as ResultEnvelope),
  )
  expect(failed).toBeInstanceOf(ToolError)
  expect(failed).toMatchObject({ message: 'no', data: { a: 1 }, cause: result })
  const silent = thrownBy(() => readResult({ status: 'error', result: {} } as unknown as ResultEnvelope))
  expect(silent).toMatchObject({ message: 'the tool failed', data: undefined })
})

test('a page of tools has their descriptors and perhaps a cursor', () => {
  const page = (result: JsonObject): unknown =>
    readListed({ status: 'success', result } as unknown as ResultEnvelope)
  const tools = [{ tool_id: 'a' }]
  expect(page({ tools })).toEqual({ tools, next_cursor: undefined })
  expect(page({ tools, next_cursor: 'x' })).toEqual({ tools, next_cursor: 'x' })
  expect(page({ tools, next_cursor: 5 })).toEqual({ tools, next_cursor: undefined })
  for (const wrong of [undefined, {}, ['a'], [{ tool_id: 1 }]])
    expect(thrownBy(() => page({ tools: wrong as never }))).toMatchObject({ kind: 'bad_answer' })
})
