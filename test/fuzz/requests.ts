import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { MESSAGES } from './seeds.ts'

const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } }

// oxfmt-ignore
const CALLS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['ping', {}], ['server/discover', {}],
  ['tools/list', {}], ['tools/list', { cursor: '' }], ['tools/list', { cursor: 'bm90aGluZw' }], ['resources/list', {}], ['resources/templates/list', {}], ['prompts/list', {}],
  ['tools/call', { name: 'echo', arguments: { text: 'hello', times: 2 } }],
  ['tools/call', { name: 'direct', arguments: { text: 'hello', count: 3, tags: ['a'], mode: 'fast' } }],
  ['tools/call', { name: 'full', arguments: { code: 'AB12', node: { next: { next: {} } } } }],
  ['tools/call', { name: 'any', arguments: { a: 1, b: [2] } }], ['tools/call', { name: 'any' }],
  ['tools/call', { name: 'headed', arguments: { pier: 'north' } }],
  ['tools/call', { name: 'typed', arguments: { text: 'hello' } }],
  ['tools/call', { name: 'later', arguments: { text: 'x', count: 2 }, _meta: { progressToken: 'p1', [META.logLevel]: 'debug' } }],
  ['tools/call', { name: 'boom' }], ['tools/call', { name: 'ask' }], ['tools/call', { name: 'askModel' }], ['tools/call', { name: 'askRoots' }],
  ['tools/call', { name: 'ask', inputResponses: { 'elicit-1': { action: 'accept', content: { ship: 'Dorothea', crew: 2 } } }, requestState: 'c2VhbGVk' }],
  ['tools/call', { name: 'ask', inputResponses: { 'elicit-1': { action: 'accept', content: { ship: 'Dorothea', crew: 2 } } } }],
  ['prompts/get', { name: 'greet', arguments: { who: 'you' } }], ['prompts/get', { name: 'boom' }],
  ['resources/read', { uri: 'note://one' }], ['resources/read', { uri: 'note://bytes' }], ['resources/read', { uri: 'item://7' }], ['resources/read', { uri: 'path:///a/b?q=1' }], ['resources/read', { uri: 'note://boom' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'a' }, context: { arguments: { tone: 'x' } } }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'item://{id}' }, argument: { name: 'id', value: 'a' } }],
  ['resources/subscribe', { uri: 'note://one' }], ['resources/unsubscribe', { uri: 'note://one' }], ['logging/setLevel', { level: 'debug' }],
  ['subscriptions/listen', { notifications: { toolsListChanged: true, resourceSubscriptions: ['note://one'] } }],
]

const NOTES: readonly JsonObject[] = [
  { method: 'notifications/initialized' },
  { method: 'notifications/cancelled', params: { requestId: 1, reason: 'no' } },
  { method: 'notifications/progress', params: { progressToken: 'p1', progress: 1 } },
  { method: 'notifications/roots/list_changed' },
  { id: 1, result: { action: 'accept', content: { ship: 'x' } } },
  { id: 1, error: { code: -1, message: 'no' } },
].map((message) => ({ jsonrpc: '2.0', ...message }))

/** What a client of a revision might send to the server that is fuzzed, and some that fits no server. */
export function requestsOf(revision: Revision): readonly JsonObject[] {
  const calls = CALLS.map(([method, params], at) => ({
    jsonrpc: '2.0',
    id: at + 2,
    method,
    params: revision === '2026-07-28' ? enveloped(params) : params,
  }))
  return [...calls, ...calls, ...NOTES, initialize(revision), ...MESSAGES.filter((_, at) => at % 9 === 0)]
}

/** The same for every revision, made once. */
export const REQUESTS: ReadonlyMap<Revision, readonly JsonObject[]> = new Map(
  REVISIONS.map((revision) => [revision, requestsOf(revision)]),
)

export function initialize(protocolVersion: string): JsonObject {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: CAPABILITIES, clientInfo: { name: 'fuzz', version: '1' } },
  }
}

function enveloped(params: JsonObject): JsonObject {
  const envelope = {
    [META.protocolVersion]: '2026-07-28',
    [META.clientCapabilities]: CAPABILITIES,
    [META.clientInfo]: { name: 'fuzz', version: '1' },
  }
  return { ...params, _meta: { ...(params['_meta'] as JsonObject | undefined), ...envelope } }
}

/** What a client might answer to the questions of the server. */
export const ANSWERS: readonly JsonObject[] = [
  { action: 'accept', content: { ship: 'Dorothea', crew: 3, 'cargo.coal': true, cargo: ['tea'] } },
  { action: 'decline' },
  { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' },
  { roots: [{ uri: 'file:///srv' }] },
]
