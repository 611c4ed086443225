import { LINE_RULES } from '../../src/validate/server-rules/lines.ts'
import { parsed } from '../../src/validate/message.ts'
import type { Fault } from './fault.ts'
import { prove } from './prove.ts'

const FAULTS: readonly Fault[] = [
  {
    rule: 'R060',
    does: 'writes JSON on several lines',
    message: (message, request) => (request === undefined ? message : JSON.stringify(message, undefined, 2)),
  },
  {
    rule: 'R061',
    does: 'writes to stdout',
    message: (message, request) => (request === undefined ? message : ['server started', message]),
  },
  { rule: 'R064', does: 'goes on without input', stays: true },
  {
    rule: 'R067',
    does: 'answers what was cancelled',
    answer: ({ method, params }) =>
      method === 'notifications/cancelled'
        ? {
            jsonrpc: '2.0',
            id: (params as { requestId: unknown }).requestId,
            result: { resultType: 'complete', content: [] },
          }
        : undefined,
  },
  {
    rule: 'R068',
    does: 'says nothing to a bad line',
    answerText: (text) => (parsed(text) === undefined && text.trim() !== '' ? '' : undefined),
  },
]

prove('Lines', LINE_RULES, FAULTS)
