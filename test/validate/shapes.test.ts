import { SHAPE_RULES } from '../../src/validate/server-rules/shapes.ts'
import type { Message } from '../../src/validate/message.ts'
import { inResult } from './fault.ts'
import { prove } from './prove.ts'

const listed = (change: (tool: Message) => Message) =>
  inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => change(tool)),
  }))

prove(
  'types of members',
  SHAPE_RULES,
  [
    {
      rule: 'V090',
      does: 'has numbers as descriptions',
      message: listed((tool) => ({ ...tool, description: 7 })),
    },
    {
      rule: 'V090',
      does: 'has hints that are texts',
      message: listed((tool) => ({ ...tool, annotations: { readOnlyHint: 'yes' } })),
    },
    {
      rule: 'V090',
      does: 'logs at a level of its own',
      message: (message) =>
        message['method'] === 'notifications/message'
          ? { ...message, params: { ...(message['params'] as Message), level: 'loud' } }
          : message,
      // At 2026-07-28, the survey asks for no logs.
      revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
      transports: ['stdio', 'http', 'ws', 'tcp'],
    },
    {
      rule: 'V091',
      does: 'answers twice, once with an id of its own',
      message: (message, request) =>
        request?.['method'] === 'tools/list' ? [{ ...message, id: 'own' }, message] : message,
    },
  ],
  [
    {
      rule: 'V090',
      does: 'has members that the specification does not know',
      message: listed((tool) => ({ ...tool, colour: 7, _meta: { 'example.com/x': [] } })),
    },
  ],
)
