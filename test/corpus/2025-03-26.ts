import type { Notifications, Requests } from '../../src/protocol/spec/2025-03-26.ts'
import * as older from './2024-11-05.ts'
import type { NotificationExamples, RequestExamples } from './examples.ts'

const audio = {
  type: 'audio',
  data: 'UklGRg==',
  mimeType: 'audio/wav',
  annotations: { priority: 0.1 },
} as const

/** What 2024-11-05 has, and what 2025-03-26 added. */
export const requests: RequestExamples<Requests> = {
  ...older.requests,
  initialize: {
    params: older.requests.initialize.params,
    result: {
      ...older.requests.initialize.result,
      'a server that completes': {
        protocolVersion: '2025-03-26',
        capabilities: { completions: {} },
        serverInfo: { name: 'harbour', version: '2.1.0' },
      },
    },
  },
  'tools/list': {
    params: older.requests['tools/list'].params,
    result: {
      ...older.requests['tools/list'].result,
      'a tool with hints': {
        tools: [
          {
            name: 'berths',
            inputSchema: { type: 'object' },
            annotations: {
              title: 'Free berths',
              readOnlyHint: true,
              destructiveHint: false,
              idempotentHint: true,
              openWorldHint: false,
            },
          },
        ],
      },
    },
  },
  'tools/call': {
    params: older.requests['tools/call'].params,
    result: { ...older.requests['tools/call'].result, audio: { content: [audio] } },
  },
  'prompts/get': {
    params: older.requests['prompts/get'].params,
    result: {
      ...older.requests['prompts/get'].result,
      audio: { messages: [{ role: 'user', content: audio }] },
    },
  },
  'sampling/createMessage': {
    params: {
      ...older.requests['sampling/createMessage'].params,
      audio: { messages: [{ role: 'user', content: audio }], maxTokens: 20 },
    },
    result: {
      ...older.requests['sampling/createMessage'].result,
      audio: { role: 'assistant', content: audio, model: 'm-1' },
    },
  },
}

export const notifications: NotificationExamples<Notifications> = {
  ...older.notifications,
  'notifications/progress': {
    ...older.notifications['notifications/progress'],
    'with a message': { progressToken: 7, progress: 1, total: 2, message: 'Halfway.' },
  },
}
