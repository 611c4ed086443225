import { TOOL_RULES } from '../../src/validate/server-rules/tools.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inError, inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes each listed tool. */
function inTools(change: (tool: Message) => Message): NonNullable<Fault['message']> {
  return inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => change(tool)),
  }))
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'R140',
    does: 'does not declare its tools',
    message: (message) => {
      const capabilities = member(message, 'result', 'capabilities') as Message | undefined
      if (capabilities === undefined) return message
      const result = { ...(message['result'] as Message), capabilities: without(capabilities, 'tools') }
      return { ...message, result }
    },
  },
  {
    rule: 'R141',
    does: 'lists tools without a schema',
    message: inTools((tool) => without(tool, 'inputSchema')),
  },
  {
    rule: 'R142',
    does: 'returns no content',
    message: inResult('tools/call', (result) => without(result, 'content')),
  },
  {
    rule: 'R143',
    does: 'answers failures with protocol errors',
    message: (message) =>
      member(message, 'result', 'isError') === true
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_603, message: 'failed' } }
        : message,
  },
  {
    rule: 'R144',
    does: 'returns a result for unknown tools',
    message: (message, request) =>
      message['error'] !== undefined && request?.['method'] === 'tools/call'
        ? {
            jsonrpc: '2.0',
            id: message['id'],
            result: { resultType: 'complete', content: [], isError: true },
          }
        : message,
  },
  {
    rule: 'R144',
    does: 'answers unknown tools with -32601',
    message: inError(-32_602, (error) => ({ ...error, code: -32_601 })),
  },
  {
    rule: 'R146',
    does: 'answers wrong arguments with protocol errors',
    message: (message, request) =>
      member(message, 'result', 'isError') === true &&
      Object.keys((member(request, 'params', 'arguments') ?? {}) as object).length === 0
        ? { jsonrpc: '2.0', id: message['id'], error: { code: -32_602, message: 'wrong' } }
        : message,
  },
  {
    rule: 'R147',
    does: 'returns what its schema does not allow',
    message: inResult('tools/call', (result) =>
      result['structuredContent'] === undefined
        ? result
        : { ...result, structuredContent: { count: 'three' } },
    ),
  },
  {
    rule: 'R148',
    does: 'returns a list',
    message: inResult('tools/call', (result) =>
      result['structuredContent'] === undefined ? result : { ...result, structuredContent: [3] },
    ),
  },
  {
    rule: 'R149',
    does: 'does not repeat it as text',
    message: inResult('tools/call', (result) =>
      result['structuredContent'] === undefined ? result : { ...result, content: [] },
    ),
  },
  {
    rule: 'R152',
    does: 'has names with spaces',
    message: inTools((tool) => ({ ...tool, name: `my ${String(tool['name'])}` })),
  },
]

prove('Tools', TOOL_RULES, FAULTS)
