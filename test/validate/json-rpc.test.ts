import { expect, test } from 'vitest'
import { HTTP_REQUEST_RULES } from '../../src/validate/server-rules/http-requests.ts'
import { JSON_RPC_RULES } from '../../src/validate/server-rules/json-rpc.ts'
import { parsed, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault, type FaultReply } from './fault.ts'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { ID_FAULTS, TOKEN_FAULTS } from './id-faults.ts'
import { TYPE_FAULTS } from './modern-faults.ts'
import { outcomesOf, prove } from './prove.ts'

const FAULTS: readonly Fault[] = [
  ...ID_FAULTS,
  ...TOKEN_FAULTS,
  ...TYPE_FAULTS,
  { rule: 'R001', does: 'says "1.0"', message: (message) => ({ ...message, jsonrpc: '1.0' }) },
  {
    rule: 'R002',
    does: 'asks with null as the id',
    message: (message) => ('method' in message && 'id' in message ? { ...message, id: null } : message),
  },
  {
    rule: 'R003',
    does: 'gives all requests one id',
    message: (message) => ('method' in message && 'id' in message ? { ...message, id: 7 } : message),
  },
  {
    rule: 'R005',
    does: 'returns ids as texts',
    message: (message) => ('method' in message ? message : { ...message, id: String(message['id']) }),
  },
  {
    rule: 'R006',
    does: 'adds an error to results',
    message: (message) => ('result' in message ? { ...message, error: { code: 1, message: 'x' } } : message),
  },
  {
    rule: 'R007',
    does: 'has texts as codes',
    message: inError(-32_601, (error) => ({ ...error, code: '-32601' })),
  },
  {
    rule: 'R008',
    does: 'answers notifications',
    answer: ({ id, method }) =>
      id === undefined && method === 'notifications/validator'
        ? { jsonrpc: '2.0', id: 0, error: { code: -32_601, message: 'no such notification' } }
        : undefined,
  },
  {
    rule: 'R009',
    does: 'says nothing to broken JSON',
    answerText: (text) => (parsed(text) === undefined ? '' : undefined),
  },
  {
    rule: 'R010',
    does: 'takes a message without a proper method for an unknown method',
    answer: ({ id, method }) =>
      typeof method === 'number'
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }
        : undefined,
  },
  {
    rule: 'R011',
    does: 'answers unknown methods with -32600',
    message: inError(-32_601, (error) => ({ ...error, code: -32_600 })),
  },
  {
    rule: 'R012',
    does: 'answers wrong parameters with -32603',
    message: (message) =>
      'error' in message ? { ...message, error: { code: -32_603, message: 'x' } } : message,
  },
  {
    rule: 'R016',
    does: 'answers a batch',
    answerText: (text) => {
      const batch = parsed(text)
      if (!Array.isArray(batch)) return undefined
      return JSON.stringify(batch.map(({ id }: Message) => ({ jsonrpc: '2.0', id, result: {} })))
    },
  },
  {
    rule: 'R017',
    does: 'has a resultType of its own',
    message: inResult('server/discover', (result) => ({ ...result, resultType: 'done' })),
  },
  {
    rule: 'R017',
    does: 'leaves out the resultType',
    message: inResult('server/discover', (result) => without(result, 'resultType')),
  },
  {
    rule: 'R020',
    does: 'sends a request',
    message: (message) => [{ jsonrpc: '2.0', id: 'q', method: 'roots/list' }, message],
  },
  {
    rule: 'R021',
    does: 'uses a reserved code',
    message: inError(-32_601, (error) => ({ ...error, code: -32_050 })),
  },
  {
    rule: 'R022',
    does: 'uses a code of its own that is reserved',
    message: inError(-32_601, (error) => ({ ...error, code: -32_010 })),
  },
]

const JSON_TYPE = { 'content-type': 'application/json' }

function refusedWith(status: number, code: number, id?: unknown): FaultReply {
  const error = { code, message: 'refused' }
  return { status, headers: JSON_TYPE, body: JSON.stringify({ jsonrpc: '2.0', id, error }) }
}

/** Looks at the headers before it reads the body. */
const headersFirst: NonNullable<Fault['http']> = ({ method, headers, message }, next) =>
  method === 'POST' &&
  (headers['mcp-protocol-version'] === undefined ||
    headers['mcp-method'] === undefined ||
    typeof message?.['method'] === 'number')
    ? refusedWith(400, -32_020)
    : next()

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R022',
    does: 'uses a code of its own that is not reserved',
    message: inError(-32_601, (error) => ({ ...error, code: 4_711 })),
  },
  ...['R009', 'R010', 'R016'].map((rule): Fault => ({
    rule,
    does: 'looks at the headers first',
    revisions: ['2026-07-28'],
    transports: ['http'],
    http: headersFirst,
  })),
  {
    rule: 'R010',
    does: 'answers with status 200',
    transports: ['http'],
    http: ({ message }, next) =>
      typeof message?.['method'] === 'number' ? refusedWith(200, -32_600, message['id']) : next(),
  },
]

prove('JSON-RPC', JSON_RPC_RULES, FAULTS, VARIANTS)

test('refusals over HTTP may have any JSON as their body', async () => {
  const served = await serveEverywhere(createFixture())
  const refusal = { headers: JSON_TYPE, body: '{"detail":"refused"}' }
  try {
    const outcomes = await outcomesOf(served, [...HTTP_REQUEST_RULES, ...JSON_RPC_RULES], {
      revision: '2025-11-25',
      transport: 'http',
      fault: {
        rule: '',
        does: 'explains refusals',
        http: async ({ method }, next) => {
          if (method === 'GET' || method === 'DELETE') return { status: 405, ...refusal }
          const reply = await next()
          return [403, 404, 406, 415].includes(reply.status) ? { ...refusal, status: reply.status } : reply
        },
      },
    })
    expect(outcomes.filter(({ is }) => is === 'failed')).toEqual([])
  } finally {
    await served.close()
  }
})
