import type { Message } from '../../src/validate/message.ts'
import { without } from './fault.ts'
import { OLD, LINES, SOCKET, responses, results, items, replies, type Row } from './mutant-parts.ts'

/** Mutants that were missed once. */
export const FURTHER_ROWS: readonly Row[] = [
  [LINES, 'answers everything twice', responses((message) => [message, message])],
  [OLD, 'puts responses into lists', responses((message) => JSON.stringify([message]))],
  [
    LINES,
    'has prompts that it does not declare',
    results('initialize', (result) => ({
      ...result,
      capabilities: without(result['capabilities'] as Message, 'prompts'),
    })),
  ],
  [OLD, 'returns a page for ever', results('prompts/list', (result) => ({ ...result, nextCursor: 'more' }))],
  [
    SOCKET,
    'returns pictures without their type',
    items('tools/call', 'content', (block) => without(block, 'mimeType')),
  ],
  [
    LINES,
    'asks the model without saying how much it may answer',
    {
      message: (message: Message) =>
        message['method'] === 'sampling/createMessage'
          ? { ...message, params: without(message['params'] as Message, 'maxTokens') }
          : message,
    },
  ],
  [
    OLD,
    'looks at the Origin of initialize only',
    {
      request: (request) =>
        request.message?.['method'] === 'initialize'
          ? request
          : { ...request, headers: without(request.headers as Message, 'origin') as Record<string, string> },
    },
  ],
  [
    OLD,
    'calls streams JSON',
    replies((reply) =>
      /event-stream/.test(reply.headers['content-type'] ?? '')
        ? { ...reply, headers: { ...reply.headers, 'content-type': 'application/json' } }
        : reply,
    ),
  ],
]
