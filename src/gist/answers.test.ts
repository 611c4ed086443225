import { expect, test } from 'vitest'
import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { ToolError } from '../errors/tool-error.ts'
import { readDescriptor, readListed, readPart, readResult } from './answers.ts'
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
  const tools = [{ tool_id: 'a', name: 'A', input_schema: {}, description: 'b', output_schema: {} }]
  expect(page({ tools })).toEqual({ tools, next_cursor: undefined })
  expect(page({ tools, next_cursor: 'x' })).toEqual({ tools, next_cursor: 'x' })
  expect(page({ tools, next_cursor: 5 })).toEqual({ tools, next_cursor: undefined })
  for (const wrong of [undefined, {}, ['a'], [{ tool_id: 1 }]])
    expect(thrownBy(() => page({ tools: wrong as never }))).toMatchObject({ kind: 'bad_answer' })
})

test('every member of a descriptor has its type, or the handshake fails', () => {
  const needed = { mcp_version: '2025-11', session: 's' }
  const usual = {
    ...needed,
    version: '2025-11',
    client_id: '',
    server_id: '',
    transport: 'http',
    capabilities: [],
  }
  expect(readDescriptor(needed)).toEqual(usual)
  for (const name of ['version', 'client_id', 'server_id', 'transport', 'capabilities']) {
    expect(readDescriptor({ ...needed, [name]: null })).toEqual(usual)
    for (const value of [5, [1], { evil: 1 }, true])
      expect(thrownBy(() => readDescriptor({ ...needed, [name]: value })).kind).toBe('bad_answer')
  }
  for (const name of ['transport', 'capabilities'])
    expect(thrownBy(() => readDescriptor({ ...needed, [name]: 'text' })).kind).toBe('bad_answer')
})

test('what a tool, a result or its progress says about itself has its type, or is left out', () => {
  const page = (tool: JsonObject): unknown =>
    readListed({ status: 'success', result: { tools: [tool] } } as unknown as ResultEnvelope).tools[0]
  const read = (more: JsonObject): unknown =>
    readResult({ status: 'success', result: {}, ...more } as unknown as ResultEnvelope)
  for (const odd of [5, null, 'text', [1], true]) {
    const object = { tool_id: 'a', name: 'a', input_schema: { type: 'object' } }
    expect(page({ tool_id: 'a', input_schema: odd, output_schema: odd })).toEqual(object)
    expect(read({ metadata: odd, progress: odd })).toEqual({
      status: 'success',
      result: {},
      metadata: { duration_ms: 0 },
    })
    expect(readPart({ status: 'in_progress', progress: odd, result: odd })).toEqual({ status: 'in_progress' })
  }
  expect(page({ tool_id: 'a', name: 5, description: {} })).toEqual({
    tool_id: 'a',
    name: 'a',
    input_schema: { type: 'object' },
  })
  expect(read({ metadata: { duration_ms: '5', tokens_used: {} }, job_id: 5, poll_after: 'x' })).toEqual({
    status: 'success',
    result: {},
    metadata: { duration_ms: 0 },
  })
  expect(readPart({ status: 'in_progress', progress: { percent: '5', steps: 2 } })).toEqual({
    status: 'in_progress',
    progress: { steps: 2 },
  })
})
