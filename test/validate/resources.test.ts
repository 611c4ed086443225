import { RESOURCE_RULES } from '../../src/validate/server-rules/resources.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

const FAULTS: readonly Fault[] = [
  {
    rule: 'R170',
    does: 'lists resources without a name',
    message: inResult('resources/list', (result) => ({
      ...result,
      resources: (result['resources'] as readonly Message[]).map((one) => without(one, 'name')),
    })),
  },
  {
    rule: 'R170',
    does: 'has a template whose braces do not match',
    message: inResult('resources/templates/list', (result) => ({
      ...result,
      resourceTemplates: [{ name: 'broken', uriTemplate: 'test://{id' }],
    })),
  },
  {
    rule: 'R171',
    does: 'returns contents without a uri',
    message: inResult('resources/read', (result) => ({
      ...result,
      contents: (result['contents'] as readonly Message[]).map((one) => without(one, 'uri')),
    })),
  },
  {
    rule: 'R172',
    does: 'answers missing resources with -32603',
    message: inError(-32_002, (error) => ({ ...error, code: -32_603 })),
  },
  {
    rule: 'R172',
    does: 'does not name the missing resource',
    message: inError(-32_002, (error) => without(error, 'data')),
  },
  {
    rule: 'R173',
    does: 'returns empty contents for missing resources',
    message: (message, request) =>
      message['error'] !== undefined && request?.['method'] === 'resources/read'
        ? {
            jsonrpc: '2.0',
            id: message['id'],
            result: { resultType: 'complete', contents: [], ttlMs: 0, cacheScope: 'public' },
          }
        : message,
  },
  {
    rule: 'R175',
    does: 'declares subscriptions and refuses them',
    answer: ({ id, method }) =>
      method === 'resources/subscribe'
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } }
        : undefined,
  },
  {
    rule: 'R177',
    does: 'reads any file',
    answer: ({ id, method, params }) =>
      method === 'resources/read' && String(member(params, 'uri')).startsWith('file:')
        ? {
            jsonrpc: '2.0',
            id,
            result: { resultType: 'complete', contents: [{ uri: member(params, 'uri'), text: 'root' }] },
          }
        : undefined,
  },
  {
    rule: 'R183',
    does: 'ignores cursors',
    answer: ({ id, params }) =>
      member(params, 'cursor') === 'validator-made-up'
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete', tools: [] } }
        : undefined,
  },
  {
    rule: 'R231',
    does: 'does not say how long lists are good',
    message: inResult('tools/list', (result) => without(result, 'ttlMs')),
  },
  {
    rule: 'R234',
    does: 'changes the scope on the second page',
    message: (message, request) =>
      request?.['method'] === 'tools/list' && message['result'] !== undefined
        ? {
            ...message,
            result: {
              ...(message['result'] as Message),
              ...(member(request, 'params', 'cursor') === undefined
                ? { cacheScope: 'public', nextCursor: 'two' }
                : {}),
            },
          }
        : message,
    answer: ({ id, method, params }) =>
      method === 'tools/list' && member(params, 'cursor') === 'two'
        ? {
            jsonrpc: '2.0',
            id,
            result: { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' },
          }
        : undefined,
  },
  {
    rule: 'R176',
    does: 'announces changes after the end of a subscription',
    transports: ['stdio', 'ws', 'tcp', 'sse'],
    message: (message, request) =>
      request?.['method'] === 'resources/unsubscribe' && message['result'] !== undefined
        ? [
            message,
            {
              jsonrpc: '2.0',
              method: 'notifications/resources/updated',
              params: { uri: member(request, 'params', 'uri') },
            },
          ]
        : message,
  },
  {
    rule: 'R176',
    does: 'announces changes to everyone',
    message: (message, request) =>
      request?.['method'] === 'ping'
        ? [
            { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://text' } },
            message,
          ]
        : message,
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R175',
    does: 'announces a change at once',
    message: (message, request) =>
      request?.['method'] === 'resources/subscribe'
        ? [
            message,
            {
              jsonrpc: '2.0',
              method: 'notifications/resources/updated',
              params: { uri: member(request, 'params', 'uri') },
            },
          ]
        : message,
  },
]

prove('Resources', RESOURCE_RULES, FAULTS, VARIANTS)
