import type { Notifications, Requests } from '../../src/protocol/spec/2026-07-28.ts'
import * as form from './2025-06-18.ts'
import * as older from './2025-11-25.ts'
import type { NotificationExamples, RequestExamples } from './examples.ts'

const hints = { ttlMs: 5000, cacheScope: 'public' } as const
const rounds = {
  inputResponses: {
    berth: { action: 'accept', content: { ship: 'Dorothea' } },
    folders: { roots: [{ uri: 'file:///srv' }] },
    name: { role: 'assistant', content: { type: 'text', text: 'Dorothea' }, model: 'm-1' },
  },
  requestState: 'c2VhbGVk',
} as const
const task = {
  taskId: 't-2',
  status: 'working',
  statusMessage: 'Unloading.',
  createdAt: '2026-07-28T10:00:00Z',
  lastUpdatedAt: '2026-07-28T10:01:00Z',
  ttlMs: 60_000,
  pollIntervalMs: 500,
} as const
const { 'as a task': _asTask, ...calls } = older.requests['tools/call'].params
const { 'a task': _task, ...callResults } = older.requests['tools/call'].result
const { 'with tools': withTools, ...samples } = older.requests['sampling/createMessage'].params
const { 'a URL': _url, ...forms } = older.requests['elicitation/create'].params
const { task: _augmented, ...sampleWithTools } = withTools ?? { messages: [], maxTokens: 1 }

/** What 2025-11-25 has and 2026-07-28 kept, and what 2026-07-28 added. */
export const requests: RequestExamples<Requests> = {
  'server/discover': {
    params: { nothing: {} },
    result: {
      plain: { supportedVersions: ['2026-07-28'], capabilities: {} },
      whole: {
        supportedVersions: ['2026-07-28', '2025-11-25'],
        capabilities: {
          completions: {},
          logging: {},
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          tools: { listChanged: true },
          experimental: { 'example.com/tides': { unit: 'm' } },
          extensions: { 'example.com/pilots': {} },
        },
        instructions: 'Ask for a berth before a crane.',
        ...hints,
      },
    },
  },
  'tools/list': {
    params: older.requests['tools/list'].params,
    result: {
      ...older.requests['tools/list'].result,
      'a tool that answers with a list': {
        tools: [
          {
            name: 'ships',
            inputSchema: { type: 'object', properties: { any: true, none: false } },
            outputSchema: {
              type: 'array',
              items: { $ref: '#/$defs/ship' },
              $defs: { ship: { type: 'string' } },
            },
          },
        ],
        ...hints,
      },
    },
  },
  'tools/call': {
    params: { ...calls, 'a further round': { name: 'berths', ...rounds } },
    result: {
      ...callResults,
      'a structured list': { content: [], structuredContent: ['Dorothea', 3, null] },
      'a structured nothing': { content: [{ type: 'text', text: 'null' }], structuredContent: null },
    },
  },
  'resources/list': older.requests['resources/list'],
  'resources/templates/list': older.requests['resources/templates/list'],
  'resources/read': {
    params: {
      ...older.requests['resources/read'].params,
      'a further round': { uri: 'harbour://map', ...rounds },
    },
    result: {
      ...older.requests['resources/read'].result,
      cacheable: { contents: [{ uri: 'harbour://map', text: '. . #' }], ttlMs: 0, cacheScope: 'private' },
    },
  },
  'prompts/list': older.requests['prompts/list'],
  'prompts/get': {
    params: {
      ...older.requests['prompts/get'].params,
      'a further round': { name: 'shift_report', ...rounds },
    },
    result: older.requests['prompts/get'].result,
  },
  'completion/complete': older.requests['completion/complete'],
  'subscriptions/listen': {
    params: {
      nothing: { notifications: {} },
      everything: {
        notifications: {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: false,
          resourceSubscriptions: ['harbour://map'],
        },
      },
    },
    result: { ended: {} },
  },
  'tasks/get': {
    params: { 'a task': { taskId: 't-2' } },
    result: {
      working: task,
      'needs input': {
        ...task,
        status: 'input_required',
        inputRequests: { 'berth.1': { method: 'roots/list', params: {} } },
      },
      completed: { ...task, status: 'completed', result: { content: [{ type: 'text', text: 'Unloaded.' }] } },
      failed: { ...task, status: 'failed', error: { code: -32603, message: 'The crane broke.' } },
      cancelled: { ...task, status: 'cancelled', ttlMs: null },
    },
  },
  'tasks/update': {
    params: { 'an answer': { taskId: 't-2', inputResponses: { 'berth.1': rounds.inputResponses.folders } } },
    result: { taken: {} },
  },
  'tasks/cancel': { params: { 'a task': { taskId: 't-2' } }, result: { cancelled: {} } },
  'sampling/createMessage': {
    params: { ...samples, 'with tools': sampleWithTools },
    result: form.requests['sampling/createMessage'].result,
  },
  'roots/list': { params: { nothing: {} }, result: older.requests['roots/list'].result },
  'elicitation/create': {
    params: {
      ...forms,
      'a URL': { mode: 'url', message: 'Pay the harbour dues.', url: 'https://example.com/dues' },
    },
    result: {
      ...form.requests['elicitation/create'].result,
      several: { action: 'accept', content: { cranes: ['north'] } },
    },
  },
}

const {
  'notifications/initialized': _initialized,
  'notifications/roots/list_changed': _roots,
  'notifications/elicitation/complete': _complete,
  'notifications/tasks/status': _status,
  'notifications/cancelled': _cancelled,
  ...kept
} = older.notifications

export const notifications: NotificationExamples<Notifications> = {
  ...kept,
  'notifications/cancelled': form.notifications['notifications/cancelled'],
  'notifications/tasks': {
    working: task,
    cancelled: { ...task, status: 'cancelled' },
  },
  'notifications/subscriptions/acknowledged': {
    'a part': {
      notifications: { toolsListChanged: true },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'listen-1' },
    },
  },
}
