import { TOOL_LIST_RULES } from '../../src/validate/server-rules/tool-lists.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inResult, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Gives each tool of the last page another schema. */
function withSchema(schema: Message): NonNullable<Fault['message']> {
  return inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => ({ ...tool, inputSchema: schema })),
  }))
}

const TUPLE = { type: 'object', properties: { pair: { type: 'array', items: [{ type: 'string' }] } } }
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

let turn = 0
/** A list with a new tool each time. */
const growing: NonNullable<Fault['message']> = inResult('tools/list', (result) => ({
  ...result,
  tools: [
    ...(result['tools'] as readonly Message[]),
    { name: `new-${turn++}`, inputSchema: { type: 'object' } },
  ],
}))

const FAULTS: readonly Fault[] = [
  { rule: 'R153', does: 'writes lists as in draft-07', message: withSchema(TUPLE) },
  {
    rule: 'R153',
    does: 'writes limits as in draft-04',
    message: withSchema({
      type: 'object',
      $defs: { age: { type: 'integer', minimum: 0, exclusiveMinimum: true } },
    }),
  },
  { rule: 'R156', does: 'changes its tools in silence', message: growing },
  {
    rule: 'R157',
    does: 'changes the order',
    message: (message, request) => {
      const tools = member(message, 'result', 'tools') as readonly Message[] | undefined
      if (request?.['method'] !== 'tools/list' || tools === undefined || Number(message['id']) % 4 < 2)
        return message
      return { ...message, result: { ...(message['result'] as Message), tools: tools.toReversed() } }
    },
  },
  {
    rule: 'R158',
    does: 'lists one tool less each time',
    message: inResult('tools/list', (result) => ({
      ...result,
      tools: [{ name: `tool_${turn++}`, inputSchema: { type: 'object' } }],
    })),
  },
]

/** Servers that are right in another way. */
const VARIANTS: readonly Fault[] = [
  {
    rule: 'R153',
    does: 'names draft-07',
    message: withSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...TUPLE }),
  },
  {
    rule: 'R153',
    does: 'has a property with the name items',
    message: withSchema({
      type: 'object',
      properties: { items: { type: 'array' }, required: { type: 'boolean', default: true } },
    }),
  },
  {
    rule: 'R156',
    does: 'announces its new tools',
    transports: ['stdio', 'tcp', 'ws', 'sse'],
    message: (message, request) =>
      member(message, 'result', 'tools') === undefined
        ? message
        : [growing(message, request) as Message, CHANGED],
  },
]

prove('Lists of tools', TOOL_LIST_RULES, FAULTS, VARIANTS)
