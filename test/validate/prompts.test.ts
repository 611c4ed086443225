import { PROMPT_RULES } from '../../src/validate/server-rules/prompts.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Leaves a capability out of the greeting. */
function undeclared(capability: string): NonNullable<Fault['message']> {
  return (message) => {
    const capabilities = member(message, 'result', 'capabilities') as Message | undefined
    if (capabilities === undefined) return message
    const result = { ...(message['result'] as Message), capabilities: without(capabilities, capability) }
    return { ...message, result }
  }
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'R178',
    does: 'has messages of the role system',
    message: inResult('prompts/get', (result) => ({
      ...result,
      messages: [{ role: 'system', content: { type: 'text', text: 'x' } }],
    })),
  },
  {
    rule: 'R179',
    does: 'answers unknown prompts with -32603',
    message: inError(-32_602, (error) => ({ ...error, code: -32_603 })),
  },
  { rule: 'R180', does: 'completes without having declared it', message: undeclared('completions') },
  {
    rule: 'R181',
    does: 'returns 101 values',
    message: inResult('completion/complete', (result) => ({
      ...result,
      completion: { values: Array.from({ length: 101 }, (_, i) => `value ${i}`) },
    })),
  },
  { rule: 'R184', does: 'logs without having declared it', message: undeclared('logging') },
  {
    rule: 'R185',
    does: 'accepts any level',
    answer: ({ id, method }) =>
      method === 'logging/setLevel' ? { jsonrpc: '2.0', id, result: {} } : undefined,
  },
  {
    rule: 'R186',
    does: 'always logs',
    message: (message, request) =>
      request?.['method'] === 'tools/call'
        ? [{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }, message]
        : message,
  },
  {
    rule: 'R187',
    does: 'logs to subscriptions',
    message: (message) =>
      message['method'] === 'notifications/subscriptions/acknowledged'
        ? [message, { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }]
        : message,
  },
]

prove('Prompts', PROMPT_RULES, FAULTS)
