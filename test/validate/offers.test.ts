import { CAPABILITY_RULES } from '../../src/validate/server-rules/capabilities.ts'
import { PAGE_RULES } from '../../src/validate/server-rules/pages.ts'
import { TOOL_INPUT_RULES } from '../../src/validate/server-rules/tool-input.ts'
import { isObject, member, type Message } from '../../src/validate/message.ts'
import { inResult, without, type Fault } from './fault.ts'
import { prove } from './prove.ts'

/** Changes what the greeting declares. */
function declaring(change: (capabilities: Message) => Message): NonNullable<Fault['message']> {
  return (message) => {
    const capabilities = member(message, 'result', 'capabilities')
    if (!isObject(capabilities)) return message
    return { ...message, result: { ...(message['result'] as Message), capabilities: change(capabilities) } }
  }
}

/** Answers some requests with an error. */
function refusing(isMeant: (request: Message) => boolean, code: number): NonNullable<Fault['answer']> {
  return (message) =>
    message['id'] !== undefined && isMeant(message)
      ? { jsonrpc: '2.0', id: message['id'], error: { code, message: 'no' } }
      : undefined
}

const begins =
  (text: string) =>
  ({ method }: Message): boolean =>
    String(method).startsWith(text)

const WITH_COMPLETIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

prove(
  'Capabilities',
  CAPABILITY_RULES,
  [
    {
      rule: 'V140',
      does: 'lists prompts that it does not declare',
      message: declaring((capabilities) => without(capabilities, 'prompts')),
    },
    {
      rule: 'V140',
      does: 'lists resources that it does not declare',
      message: declaring((capabilities) => without(capabilities, 'resources')),
    },
    {
      rule: 'V140',
      does: 'declares prompts, and knows none of their methods',
      answer: refusing(begins('prompts/'), -32_601),
    },
    {
      rule: 'V140',
      does: 'lists resources that nobody can read',
      answer: refusing(begins('resources/read'), -32_601),
    },
    {
      rule: 'V140',
      does: 'lists tools that nobody can call',
      answer: refusing(begins('tools/call'), -32_601),
    },
    {
      rule: 'V140',
      does: 'declares lists of tasks, and does not know tasks/list',
      answer: refusing(begins('tasks/list'), -32_601),
      revisions: ['2025-11-25'],
    },
    {
      rule: 'V140',
      does: 'declares completions, and completes nothing',
      answer: refusing(begins('completion/'), -32_601),
      revisions: WITH_COMPLETIONS,
    },
  ],
  [
    {
      rule: 'V140',
      does: 'has resources without templates',
      answer: refusing(begins('resources/templates/'), -32_601),
    },
    {
      rule: 'V140',
      does: 'has templates alone',
      answer: refusing(({ method }) => method === 'resources/list', -32_601),
    },
    {
      rule: 'V140',
      does: 'does not complete this argument',
      answer: refusing(begins('completion/'), -32_602),
    },
  ],
)

/** Answers requests for a page of the tools. */
const page =
  (cursor: string, nextCursor: string): NonNullable<Fault['answer']> =>
  ({ id, method, params }) =>
    method === 'tools/list' && member(params, 'cursor') === cursor
      ? { jsonrpc: '2.0', id, result: { resultType: 'complete', tools: [{ name: 'again' }], nextCursor } }
      : undefined
const leadingTo = (nextCursor: string): NonNullable<Fault['message']> =>
  inResult('tools/list', (result) => ({ ...result, nextCursor }))

prove(
  'Lists',
  PAGE_RULES,
  [
    {
      rule: 'V183',
      does: 'does not know a cursor that it gave out',
      message: leadingTo('lost'),
      answer: refusing(({ params }) => member(params, 'cursor') === 'lost', -32_602),
    },
    {
      rule: 'V183',
      does: 'returns one page again and again',
      message: leadingTo('again'),
      answer: page('again', 'again'),
    },
    {
      rule: 'V170',
      does: 'has two prompts of one name',
      message: inResult('prompts/list', (result) => {
        const [first] = result['prompts'] as readonly Message[]
        return { ...result, prompts: [first, first] }
      }),
    },
    {
      rule: 'V170',
      does: 'has two resources at one URI',
      message: inResult('resources/list', (result) => ({
        ...result,
        resources: (result['resources'] as readonly Message[]).map((one) => ({ ...one, uri: 'test://one' })),
      })),
    },
  ],
  [
    {
      rule: 'V183',
      does: 'ends a list with an empty cursor',
      message: inResult('prompts/list', (result) => ({ ...result, nextCursor: '' })),
      revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'],
    },
  ],
)

/** Answers calls of `echo` whose text is not one, as a tool does that checks nothing. */
const careless =
  (isMeant: (text: unknown) => boolean, result: Message): NonNullable<Fault['answer']> =>
  ({ id, method, params }) =>
    method === 'tools/call' &&
    member(params, 'name') === 'echo' &&
    isMeant(member(params, 'arguments', 'text'))
      ? { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }
      : undefined

prove(
  'Arguments of tools',
  TOOL_INPUT_RULES,
  [
    {
      rule: 'V159',
      does: 'calls a tool without its arguments',
      answer: careless((text) => text === undefined, { content: [{ type: 'text', text: 'undefined' }] }),
    },
    {
      rule: 'V159',
      does: 'takes an object for a text',
      answer: careless(isObject, { content: [{ type: 'text', text: '[object Object]' }] }),
    },
  ],
  [
    {
      rule: 'V159',
      does: 'says in a result that an argument is missing',
      answer: careless((text) => text === undefined, { content: [], isError: true }),
    },
    {
      rule: 'V159',
      does: 'has a default for what it requires',
      answer: careless((text) => text === undefined, { content: [] }),
      message: inResult('tools/list', (result) => ({
        ...result,
        tools: (result['tools'] as readonly Message[]).map((tool) =>
          tool['name'] === 'echo'
            ? {
                ...tool,
                inputSchema: {
                  type: 'object',
                  properties: { text: { type: 'string', default: '' } },
                  required: ['text'],
                },
              }
            : tool,
        ),
      })),
    },
  ],
)
