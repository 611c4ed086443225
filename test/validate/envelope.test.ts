import { ENVELOPE_RULES } from '../../src/validate/server-rules/envelope.ts'
import { member } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'
import { refusedWithout } from './refused.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const FAULTS: readonly Fault[] = [
  {
    rule: 'R044',
    does: 'accepts a list of capabilities',
    answer: (message) =>
      Array.isArray(member(message, 'params', '_meta', 'io.modelcontextprotocol/clientCapabilities'))
        ? { jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R044',
    does: 'accepts a number as a version',
    answer: (message) =>
      member(message, 'params', '_meta', 'io.modelcontextprotocol/protocolVersion') === 17
        ? { jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R053',
    does: 'still ends subscriptions to resources',
    answer: ({ id, method }) =>
      method === 'resources/unsubscribe'
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R044',
    does: 'serves requests without a version',
    answer: ({ id, method, params }) =>
      method === 'server/discover' && member(params, '_meta', VERSION) === undefined
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R045',
    does: 'wants to know who asks',
    answer: ({ id, method, params }) =>
      method === 'server/discover' &&
      member(params, '_meta', 'io.modelcontextprotocol/clientInfo') === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'who are you?' } }
        : undefined,
  },
  {
    rule: 'R046',
    does: 'does not say what it supports',
    message: inError(-32_022, (error) => without(error, 'data')),
  },
  {
    rule: 'R048',
    does: 'declares prompts that it does not have',
    answer: ({ id, method }) =>
      method === 'prompts/list'
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'none' } }
        : undefined,
  },
  {
    rule: 'R049',
    does: 'does not say who it is',
    message: inResult('tools/list', (result) => without(result, '_meta')),
  },
  {
    rule: 'R050',
    does: 'remembers the version',
    answer: ({ id, method, params }) =>
      method === 'server/discover' && member(params, '_meta', VERSION) === undefined
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete' } }
        : undefined,
  },
  {
    rule: 'R051',
    does: 'asks clients that cannot answer',
    answer: ({ id, method, params }) =>
      method === 'tools/call' &&
      Object.keys((member(params, '_meta', CAPABILITIES) ?? {}) as object).length === 0
        ? { jsonrpc: '2.0', id, result: { resultType: 'input_required', requestState: 'x' } }
        : undefined,
  },
  {
    rule: 'R052',
    does: 'refuses initialize without a hint',
    answer: ({ id, method }) =>
      method === 'initialize'
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }
        : undefined,
  },
  {
    rule: 'R053',
    does: 'still answers ping',
    answer: ({ id, method }) =>
      method === 'ping' ? { jsonrpc: '2.0', id, result: { resultType: 'complete' } } : undefined,
  },
]

const VARIANTS: readonly Fault[] = [
  ...['R044', 'R046', 'R051'].map((rule): Fault => ({
    rule,
    does: 'refuses without an id',
    transports: ['http'],
    http: refusedWithout('id'),
  })),
  {
    rule: 'R052',
    does: 'supports only the newest revision',
    answer: ({ id, method }) =>
      method === 'initialize'
        ? {
            jsonrpc: '2.0',
            id,
            error: {
              code: -32_022,
              message: 'too old',
              data: { supported: ['2026-07-28'], requested: '2025-11-25' },
            },
          }
        : undefined,
  },
]

prove('Envelope', ENVELOPE_RULES, FAULTS, VARIANTS)
