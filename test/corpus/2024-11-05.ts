import type { Notifications, Requests } from '../../src/protocol/spec/2024-11-05.ts'
import type { NotificationExamples, RequestExamples } from './examples.ts'

const pages = { 'the first page': {}, 'a later page': { cursor: 'page-2' } }
const empty = { nothing: {}, 'with metadata': { _meta: { 'example.com/trace': 'a1' } } }

export const requests: RequestExamples<Requests> = {
  initialize: {
    params: {
      'a plain client': {
        protocolVersion: '2024-11-05',
        capabilities: {},
        clientInfo: { name: 'harbour-client', version: '1.0.0' },
      },
      'a client with everything': {
        protocolVersion: '2024-11-05',
        capabilities: {
          roots: { listChanged: true },
          sampling: {},
          experimental: { 'example.com/tides': { unit: 'm' } },
        },
        clientInfo: { name: 'harbour-client', version: '1.0.0' },
      },
    },
    result: {
      'a plain server': {
        protocolVersion: '2024-11-05',
        capabilities: {},
        serverInfo: { name: 'harbour', version: '2.1.0' },
      },
      'a server with everything': {
        protocolVersion: '2024-11-05',
        capabilities: {
          logging: {},
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          tools: { listChanged: true },
          experimental: { 'example.com/tides': {} },
        },
        serverInfo: { name: 'harbour', version: '2.1.0' },
        instructions: 'Ask for a berth before a crane.',
      },
    },
  },
  ping: { params: { nothing: {}, 'with a progress token': { _meta: { progressToken: 7 } } }, result: empty },
  'tools/list': {
    params: pages,
    result: {
      'no tools': { tools: [] },
      'two tools': {
        tools: [
          { name: 'berths', inputSchema: { type: 'object' } },
          {
            name: 'move_crane',
            description: 'Moves a crane along the quay.',
            inputSchema: {
              type: 'object',
              properties: { crane: { type: 'string' }, metres: { type: 'number', minimum: 0 } },
              required: ['crane', 'metres'],
            },
          },
        ],
        nextCursor: 'page-2',
      },
    },
  },
  'tools/call': {
    params: {
      'without arguments': { name: 'berths' },
      'with arguments': { name: 'move_crane', arguments: { crane: 'north', metres: 12.5 } },
      'with a progress token': { name: 'berths', arguments: {}, _meta: { progressToken: 'call-1' } },
    },
    result: {
      empty: { content: [] },
      'every block': {
        content: [
          {
            type: 'text',
            text: 'Three berths are free.',
            annotations: { audience: ['user'], priority: 0.5 },
          },
          { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'harbour://map', mimeType: 'text/plain', text: '. . #' } },
          {
            type: 'resource',
            resource: { uri: 'harbour://photo', mimeType: 'image/jpeg', blob: '/9j/4AAQ' },
          },
        ],
        isError: false,
      },
      'a failure': { content: [{ type: 'text', text: 'The crane is blocked.' }], isError: true },
    },
  },
  'resources/list': {
    params: pages,
    result: {
      'no resources': { resources: [] },
      'two resources': {
        resources: [
          { uri: 'harbour://map', name: 'map' },
          {
            uri: 'file:///var/harbour/log.txt',
            name: 'log',
            description: 'What happened today.',
            mimeType: 'text/plain',
            size: 2048,
            annotations: { audience: ['assistant'], priority: 1 },
          },
        ],
        nextCursor: 'page-2',
      },
    },
  },
  'resources/templates/list': {
    params: pages,
    result: {
      'no templates': { resourceTemplates: [] },
      'one template': {
        resourceTemplates: [
          {
            uriTemplate: 'harbour://berths/{id}',
            name: 'berth',
            description: 'One berth.',
            mimeType: 'application/json',
            annotations: { priority: 0 },
          },
        ],
      },
    },
  },
  'resources/read': {
    params: { 'a resource': { uri: 'harbour://map' } },
    result: {
      'text and bytes': {
        contents: [
          { uri: 'harbour://map', mimeType: 'text/plain', text: '. . #' },
          { uri: 'harbour://photo', blob: '/9j/4AAQ' },
        ],
      },
    },
  },
  'resources/subscribe': { params: { 'a resource': { uri: 'harbour://map' } }, result: empty },
  'resources/unsubscribe': { params: { 'a resource': { uri: 'harbour://map' } }, result: empty },
  'prompts/list': {
    params: pages,
    result: {
      'no prompts': { prompts: [] },
      'one prompt': {
        prompts: [
          {
            name: 'shift_report',
            description: 'Summarises a shift.',
            arguments: [{ name: 'shift', description: 'Which shift.', required: true }, { name: 'tone' }],
          },
        ],
      },
    },
  },
  'prompts/get': {
    params: {
      'without arguments': { name: 'shift_report' },
      'with arguments': { name: 'shift_report', arguments: { shift: 'night' } },
    },
    result: {
      'a conversation': {
        description: 'A shift report.',
        messages: [
          { role: 'user', content: { type: 'text', text: 'Summarise the night shift.' } },
          { role: 'assistant', content: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } },
          {
            role: 'user',
            content: { type: 'resource', resource: { uri: 'harbour://log', text: '02:00 calm' } },
          },
        ],
      },
    },
  },
  'completion/complete': {
    params: {
      'of a prompt': {
        ref: { type: 'ref/prompt', name: 'shift_report' },
        argument: { name: 'shift', value: 'n' },
      },
      'of a template': {
        ref: { type: 'ref/resource', uri: 'harbour://berths/{id}' },
        argument: { name: 'id', value: '' },
      },
    },
    result: {
      'no values': { completion: { values: [] } },
      'some values': { completion: { values: ['night', 'noon'], total: 2, hasMore: false } },
    },
  },
  'logging/setLevel': { params: { warning: { level: 'warning' } }, result: empty },
  'sampling/createMessage': {
    params: {
      short: { messages: [{ role: 'user', content: { type: 'text', text: 'Name a ship.' } }], maxTokens: 20 },
      whole: {
        messages: [
          { role: 'user', content: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } },
          { role: 'assistant', content: { type: 'text', text: 'A ferry.' } },
        ],
        maxTokens: 200,
        modelPreferences: {
          hints: [{ name: 'small' }, {}],
          costPriority: 1,
          speedPriority: 0.5,
          intelligencePriority: 0,
        },
        systemPrompt: 'Be brief.',
        includeContext: 'thisServer',
        temperature: 0.2,
        stopSequences: ['.'],
        metadata: { user: 'u1' },
      },
    },
    result: {
      text: {
        role: 'assistant',
        content: { type: 'text', text: 'Dorothea' },
        model: 'm-1',
        stopReason: 'endTurn',
      },
      image: {
        role: 'assistant',
        content: { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        model: 'm-1',
      },
    },
  },
  'roots/list': {
    params: { nothing: {} },
    result: {
      'no roots': { roots: [] },
      'two roots': { roots: [{ uri: 'file:///srv/quay' }, { uri: 'file:///srv/docks', name: 'docks' }] },
    },
  },
}

const note = { nothing: {}, 'with metadata': { _meta: { 'example.com/trace': 'a1' } } }

export const notifications: NotificationExamples<Notifications> = {
  'notifications/initialized': note,
  'notifications/cancelled': {
    'by number': { requestId: 3 },
    'by text, with a reason': { requestId: 'call-1', reason: 'The user left.' },
  },
  'notifications/progress': {
    'without an end': { progressToken: 'call-1', progress: 1 },
    'with a total': { progressToken: 7, progress: 0.5, total: 2 },
  },
  'notifications/message': {
    text: { level: 'info', data: 'The tide turns.' },
    object: { level: 'error', logger: 'cranes', data: { crane: 'north', jammed: true } },
  },
  'notifications/resources/list_changed': note,
  'notifications/resources/updated': { 'a resource': { uri: 'harbour://map' } },
  'notifications/tools/list_changed': note,
  'notifications/prompts/list_changed': note,
  'notifications/roots/list_changed': note,
}
