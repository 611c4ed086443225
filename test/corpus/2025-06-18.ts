import type { Notifications, Requests } from '../../src/protocol/spec/2025-06-18.ts'
import * as older from './2025-03-26.ts'
import type { NotificationExamples, RequestExamples } from './examples.ts'

const _meta = { 'example.com/origin': 'quay' }
const annotations = { audience: ['user'], lastModified: '2025-06-18T08:00:00Z' } as const
const link = {
  type: 'resource_link',
  uri: 'harbour://log',
  name: 'log',
  title: 'Log book',
  description: 'What happened today.',
  mimeType: 'text/plain',
  size: 2048,
  annotations,
  _meta,
} as const

/** What 2025-03-26 has, and what 2025-06-18 added. */
export const requests: RequestExamples<Requests> = {
  ...older.requests,
  initialize: {
    params: {
      ...older.requests.initialize.params,
      'a client with a title': {
        protocolVersion: '2025-06-18',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'harbour-client', version: '1.0.0', title: 'Harbour client' },
      },
    },
    result: {
      ...older.requests.initialize.result,
      'a server with a title': {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'harbour', version: '2.1.0', title: 'Harbour' },
      },
    },
  },
  'tools/list': {
    params: older.requests['tools/list'].params,
    result: {
      ...older.requests['tools/list'].result,
      'a tool with output': {
        tools: [
          {
            name: 'berths',
            title: 'Free berths',
            inputSchema: { type: 'object' },
            outputSchema: { type: 'object', properties: { free: { type: 'integer' } }, required: ['free'] },
            _meta,
          },
        ],
      },
    },
  },
  'tools/call': {
    params: older.requests['tools/call'].params,
    result: {
      ...older.requests['tools/call'].result,
      structured: { content: [{ type: 'text', text: '{"free":3}' }], structuredContent: { free: 3 } },
      'a link': { content: [link], _meta },
    },
  },
  'resources/list': {
    params: older.requests['resources/list'].params,
    result: {
      ...older.requests['resources/list'].result,
      'a titled resource': {
        resources: [{ uri: 'harbour://log', name: 'log', title: 'Log book', annotations, _meta }],
      },
    },
  },
  'resources/templates/list': {
    params: older.requests['resources/templates/list'].params,
    result: {
      ...older.requests['resources/templates/list'].result,
      'a titled template': {
        resourceTemplates: [
          { uriTemplate: 'harbour://berths/{id}', name: 'berth', title: 'Berth', annotations, _meta },
        ],
      },
    },
  },
  'resources/read': {
    params: older.requests['resources/read'].params,
    result: {
      ...older.requests['resources/read'].result,
      'with metadata': { contents: [{ uri: 'harbour://map', text: '. . #', _meta }] },
    },
  },
  'prompts/list': {
    params: older.requests['prompts/list'].params,
    result: {
      ...older.requests['prompts/list'].result,
      'a titled prompt': {
        prompts: [
          {
            name: 'shift_report',
            title: 'Shift report',
            arguments: [{ name: 'shift', title: 'Shift' }],
            _meta,
          },
        ],
      },
    },
  },
  'prompts/get': {
    params: older.requests['prompts/get'].params,
    result: {
      ...older.requests['prompts/get'].result,
      'a link': { messages: [{ role: 'user', content: link }] },
    },
  },
  'completion/complete': {
    params: {
      ...older.requests['completion/complete'].params,
      'in context': {
        ref: { type: 'ref/prompt', name: 'shift_report', title: 'Shift report' },
        argument: { name: 'tone', value: '' },
        context: { arguments: { shift: 'night' } },
      },
    },
    result: older.requests['completion/complete'].result,
  },
  'roots/list': {
    params: older.requests['roots/list'].params,
    result: {
      ...older.requests['roots/list'].result,
      'with metadata': { roots: [{ uri: 'file:///srv', _meta }] },
    },
  },
  'elicitation/create': {
    params: {
      'every kind of field': {
        message: 'Which berth?',
        requestedSchema: {
          type: 'object',
          properties: {
            ship: { type: 'string', title: 'Ship', description: 'Its name.', minLength: 1, maxLength: 40 },
            mail: { type: 'string', format: 'email' },
            draught: { type: 'number', minimum: 0, maximum: 20 },
            nights: { type: 'integer' },
            tug: { type: 'boolean', default: true },
            side: { type: 'string', enum: ['p', 's'], enumNames: ['Port', 'Starboard'] },
          },
          required: ['ship'],
        },
      },
    },
    result: {
      accepted: { action: 'accept', content: { ship: 'Dorothea', draught: 4, tug: false } },
      declined: { action: 'decline' },
      cancelled: { action: 'cancel' },
    },
  },
}

export const notifications: NotificationExamples<Notifications> = older.notifications
