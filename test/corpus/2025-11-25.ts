import type { Notifications, Requests, Task } from '../../src/protocol/spec/2025-11-25.ts'
import * as older from './2025-06-18.ts'
import type { NotificationExamples, RequestExamples } from './examples.ts'

const icons = [
  { src: 'https://example.com/crane.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' },
  { src: 'data:image/svg+xml;base64,PHN2Zy8+' },
] as const

const task: Task = {
  taskId: 't-786512e2',
  status: 'working',
  statusMessage: 'Unloading.',
  createdAt: '2025-11-25T10:00:00Z',
  lastUpdatedAt: '2025-11-25T10:01:00Z',
  ttl: 60_000,
  pollInterval: 500,
}
const endless: Task = {
  taskId: 't-2',
  status: 'completed',
  createdAt: '2025-11-25T10:00:00Z',
  lastUpdatedAt: '2025-11-25T10:00:00Z',
  ttl: null,
}

/** What 2025-06-18 has, and what 2025-11-25 added. */
export const requests: RequestExamples<Requests> = {
  ...older.requests,
  initialize: {
    params: {
      ...older.requests.initialize.params,
      'a client with modes and tasks': {
        protocolVersion: '2025-11-25',
        capabilities: {
          sampling: { tools: {}, context: {} },
          elicitation: { form: {}, url: {} },
          tasks: {
            list: {},
            cancel: {},
            requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
          },
        },
        clientInfo: {
          name: 'harbour-client',
          version: '1.0.0',
          description: 'Talks to harbours.',
          websiteUrl: 'https://example.com',
          icons,
        },
      },
    },
    result: {
      ...older.requests.initialize.result,
      'a server with tasks': {
        protocolVersion: '2025-11-25',
        capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: 'harbour', version: '2.1.0', icons },
      },
    },
  },
  'tools/list': {
    params: older.requests['tools/list'].params,
    result: {
      ...older.requests['tools/list'].result,
      'a tool with icons': {
        tools: [
          {
            name: 'unload',
            inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
            execution: { taskSupport: 'optional' },
            icons,
          },
        ],
      },
    },
  },
  'tools/call': {
    params: {
      ...older.requests['tools/call'].params,
      'as a task': { name: 'unload', task: { ttl: 60_000 } },
    },
    result: { ...older.requests['tools/call'].result, 'a task': { task } },
  },
  'resources/list': {
    params: older.requests['resources/list'].params,
    result: {
      ...older.requests['resources/list'].result,
      'with icons': { resources: [{ uri: 'harbour://log', name: 'log', icons }] },
    },
  },
  'resources/templates/list': {
    params: older.requests['resources/templates/list'].params,
    result: {
      ...older.requests['resources/templates/list'].result,
      'with icons': { resourceTemplates: [{ uriTemplate: 'harbour://berths/{id}', name: 'berth', icons }] },
    },
  },
  'prompts/list': {
    params: older.requests['prompts/list'].params,
    result: {
      ...older.requests['prompts/list'].result,
      'with icons': { prompts: [{ name: 'shift_report', icons }] },
    },
  },
  'sampling/createMessage': {
    params: {
      ...older.requests['sampling/createMessage'].params,
      'with tools': {
        messages: [
          { role: 'user', content: { type: 'text', text: 'How deep is berth 4?' } },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'u1', name: 'depth', input: { berth: 4 } }],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                toolUseId: 'u1',
                content: [{ type: 'text', text: '9 m' }],
                structuredContent: { metres: 9 },
              },
            ],
            _meta: { 'example.com/turn': 2 },
          },
        ],
        maxTokens: 50,
        tools: [{ name: 'depth', inputSchema: { type: 'object' } }],
        toolChoice: { mode: 'auto' },
        task: {},
      },
    },
    result: {
      ...older.requests['sampling/createMessage'].result,
      'a tool call': {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'u1', name: 'depth', input: { berth: 4 } },
        ],
        model: 'm-1',
        stopReason: 'toolUse',
      },
    },
  },
  'elicitation/create': {
    params: {
      ...older.requests['elicitation/create'].params,
      'defaults and choices': {
        mode: 'form',
        message: 'Which berth?',
        requestedSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: {
            ship: { type: 'string', default: 'Dorothea' },
            nights: { type: 'integer', default: 2 },
            side: { type: 'string', oneOf: [{ const: 'p', title: 'Port' }], default: 'p' },
            cranes: {
              type: 'array',
              title: 'Cranes',
              items: { type: 'string', enum: ['north', 'south'] },
              minItems: 1,
              maxItems: 2,
              default: ['north'],
            },
            pilots: { type: 'array', items: { anyOf: [{ const: 'a', title: 'Anna' }] } },
          },
        },
      },
      'a URL': {
        mode: 'url',
        message: 'Pay the harbour dues.',
        url: 'https://example.com/dues',
        elicitationId: 'e-1',
      },
    },
    result: {
      ...older.requests['elicitation/create'].result,
      'several chosen': { action: 'accept', content: { cranes: ['north', 'south'] } },
    },
  },
  'tasks/get': { params: { 'a task': { taskId: 't-2' } }, result: { working: task, 'without end': endless } },
  'tasks/result': {
    params: { 'a task': { taskId: 't-2' } },
    result: {
      'of a tool': {
        content: [{ type: 'text', text: 'Unloaded.' }],
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't-2' } },
      },
    },
  },
  'tasks/list': {
    params: { 'the first page': {}, 'a later page': { cursor: 'page-2' } },
    result: {
      'two tasks': { tasks: [task, endless], nextCursor: 'page-3' },
      'tasks of every status': {
        tasks: (['working', 'input_required', 'completed', 'failed', 'cancelled'] as const).map((status) => ({
          ...task,
          status,
        })),
      },
    },
  },
  'tasks/cancel': {
    params: { 'a task': { taskId: 't-2' } },
    result: { cancelled: { ...task, status: 'cancelled' } },
  },
}

export const notifications: NotificationExamples<Notifications> = {
  ...older.notifications,
  'notifications/elicitation/complete': { 'an elicitation': { elicitationId: 'e-1' } },
  'notifications/tasks/status': { 'a task': task },
}
