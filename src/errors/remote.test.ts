import { describe, expect, test } from 'vitest'
import { McpError, mcpError } from './error.ts'
import { NODE_LOST } from './http.ts'
import { STORE_UNREACHABLE } from './store.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { erlmcpCodeOf, erlmcpMeaning, MCP_CODES } from '../profiles/erlmcp/mcp-codes.ts'
import { refusalNamed, refusalOf, refusalRow } from './refusal.ts'
import { toErrorObject } from './reply.ts'
import { REFUSALS, type RefusalName } from '../protocol/refusals.ts'
import { fromErrorObject } from './remote.ts'
import { RESERVED_REFUSALS } from '../protocol/reserved-refusals.ts'

const ALL = Object.entries({ ...REFUSALS, ...RESERVED_REFUSALS })

describe('the catalogue', () => {
  test('there are 61 refusals of 61 codes: 51 up to 1089, and ten experimental ones [S2-8.3-2] [S2-8.3-12] [S2-13-S3]', () => {
    const codes = ALL.map(([, { code }]) => code)
    expect(new Set(codes).size).toBe(61)
    expect(codes.filter((code) => code <= 1089)).toHaveLength(51)
    expect(codes.filter((code) => code >= 1090 && code <= 1099)).toHaveLength(10)
    for (const [, { http, severity }] of ALL) {
      expect(http).toBeGreaterThanOrEqual(400)
      expect(['warn', 'error', 'critical']).toContain(severity)
    }
  })

  test('each is found by its name and by its number, and nothing else is [S2-8.3-2]', () => {
    for (const [name, row] of ALL) {
      expect(refusalRow(name)).toBe(row)
      expect(refusalNamed(row.code)).toBe(name)
    }
    for (const name of ['toString', '__proto__', '', undefined, null, 5, {}])
      expect(refusalRow(name)).toBeUndefined()
    for (const code of [0, 1000, 1006, 1100, -32600, Number.NaN]) expect(refusalNamed(code)).toBeUndefined()
  })

  test('there are 38 codes of profile erlmcp, and each kind has one at most', () => {
    expect(new Set(MCP_CODES.map(({ code }) => code)).size).toBe(38)
    const kinds = MCP_CODES.flatMap((row) => row.kinds)
    expect(new Set(kinds).size).toBe(kinds.length)
    expect(
      (['unknown_resource', 'unknown_tool', 'unknown_prompt', 'not_initialized', 'too_large'] as const).map(
        erlmcpCodeOf,
      ),
    ).toEqual([-32001, -32031, -32041, -32005, -32012])
    expect(erlmcpCodeOf('parse_failed')).toBeUndefined()
  })
})

describe('an error of a server', () => {
  test('is known by the name of its refusal, by its number, or by a number as the code [S2-8.3-1] [S2-13-C4]', () => {
    for (const [name, { code }] of ALL) {
      const errors = [
        fromErrorObject({ code: -32000, message: 'no', data: { refusal: { name } } }),
        fromErrorObject({ code: -32000, message: 'no', data: { refusal: { code } } }),
        fromErrorObject({ code, message: 'no' }),
      ]
      for (const error of errors) {
        expect(error.refusal).toBe(name)
        expect(refusalOf(error)).toMatchObject({ name, code })
        expect(error.retryable).toBe(refusalOf(error)?.retryable)
      }
    }
  })

  test('says how long to wait, but never more than an hour', () => {
    const read = (retryAfterMs: unknown): number | undefined =>
      fromErrorObject({ code: 1005, message: '', data: { refusal: { retryAfterMs } } as never }).retryAfterMs
    expect([read(0), read(1500), read(1e12), read(Infinity)]).toEqual([0, 1500, 3_600_000, 3_600_000])
    for (const odd of [-1, Number.NaN, '5', null, {}, undefined]) expect(read(odd)).toBeUndefined()
  })

  test('that lies or talks nonsense is an ordinary error', () => {
    const odd: unknown[] = [null, 5, 'x', [], [1], {}, { refusal: null }, { refusal: 5 }, { refusal: [] }]
    odd.push({ refusal: { name: '__proto__' } }, { refusal: { name: 'constructor', code: '1005' } })
    odd.push({ refusal: { name: 5, code: {} } }, JSON.parse('{"refusal":{"__proto__":{"name":"TIMEOUT"}}}'))
    for (const data of odd) {
      const error = fromErrorObject({ code: -32000, message: 'odd', data: data as never })
      expect(error).toBeInstanceOf(McpError)
      expect([error.kind, error.refusal, error.retryable]).toEqual(['remote', undefined, false])
      expect(refusalOf(error)).toBeUndefined()
    }
  })

  test('keeps its data: objects as they came, and anything else as a value', () => {
    const dataOf = (data: unknown): unknown =>
      fromErrorObject({ code: -32000, message: 'm', data: data as never }).data
    expect(dataOf({ a: 1 })).toEqual({ a: 1 })
    for (const data of ['text', 5, null, false, [1, 2]]) expect(dataOf(data)).toEqual({ value: data })
    expect(dataOf(undefined)).toBeUndefined()
  })

  test('has the kind that says the same, and keeps the code that came', () => {
    const kindOf = (code: number, name?: RefusalName): unknown[] => {
      const data = name === undefined ? {} : { data: { refusal: { name } } }
      const error = fromErrorObject({ code, message: 'm', ...data })
      return [error.kind, error.code]
    }
    expect(kindOf(-32602, 'TOOL_NOT_FOUND')).toEqual(['unknown_tool', -32602])
    expect(kindOf(-32602)).toEqual(['bad_params', -32602])
    expect(kindOf(1077)).toEqual(['shutting_down', 1077])
    expect(kindOf(1001)).toEqual(['queue_full', 1001])
    expect(kindOf(-32099)).toEqual(['remote', -32099])
  })

  test('has the first hundred URLs to open, and none that a user should not open', () => {
    const item = (at: number): object => ({ url: `https://a.example/${at}`, elicitationId: `e${at}` })
    const elicitations = Array.from({ length: 150 }, (_, at) => (at === 3 ? { url: 'file:///a' } : item(at)))
    const { data } = fromErrorObject({ code: -32042, message: 'm', data: { elicitations, more: 1 } })
    expect(data?.['more']).toBe(1)
    expect(data?.['elicitations']).toEqual(elicitations.slice(0, 100).filter((_, at) => at !== 3))
  })

  test('has a hint for every kind', () => {
    const hintOf = (name: RefusalName): string =>
      fromErrorObject({ code: -32602, message: 'm', data: { refusal: { name } } }).hint
    expect(hintOf('TOOL_NOT_FOUND')).toBe('List the tools first.')
    expect(hintOf('INVALID_PARAMS')).toBe('Send params that match the schema of the method.')
    expect(hintOf('TIMEOUT')).not.toBe('')
  })

  test('with a number of profile erlmcp means what it means there, if that is spoken [S2-8.2-1] [S2-8.2-4]', () => {
    const read = (code: number): unknown[] => {
      const { kind, refusal } = fromErrorObject({ code, message: 'm' }, erlmcpMeaning)
      return [kind, refusal]
    }
    expect(read(-32001)).toEqual(['unknown_resource', 'RESOURCE_NOT_FOUND'])
    expect(read(-32002)).toEqual(['unknown_tool', 'TOOL_NOT_FOUND'])
    expect(read(-32031)).toEqual(['unknown_tool', 'TOOL_NOT_FOUND'])
    expect(read(-32052)).toEqual(['auth_expired', 'AUTH_EXPIRED'])
    expect(read(-32601)).toEqual(['unknown_method', 'PROTOCOL_ERROR'])
    expect(fromErrorObject({ code: -32002, message: 'm' }).kind).toBe('unknown_resource')
  })
})

test('the loss of a node has its own kind, and is not to be repeated without a thought', () => {
  const sent = toErrorObject(mcpError(NODE_LOST, {}), DIALECTS['2025-11-25'])
  const error = fromErrorObject(sent)
  expect(error).toMatchObject({ kind: 'node_lost', retryable: false, hint: NODE_LOST.hint })
  // Another server may mean something else by the same refusal.
  expect(fromErrorObject({ ...sent, code: -32008 }).kind).toBe('remote')
})

test('the hint of an error without a kind of its own says what to do if it may pass', () => {
  const error = fromErrorObject(toErrorObject(mcpError(STORE_UNREACHABLE, {}), DIALECTS['2025-11-25']))
  expect(error).toMatchObject({
    kind: 'remote',
    retryable: true,
    hint: expect.stringContaining('try again later') as string,
  })
})
