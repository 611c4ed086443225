import { CAPABILITY_RULES } from '../../src/validate/server-rules/capabilities.ts'
import { LISTED_RULES } from '../../src/validate/server-rules/listed.ts'
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

/** Adds something to a list that the server does not have. */
const listing = (method: string, key: string, item: Message): NonNullable<Fault['message']> =>
  inResult(method, (result) => ({ ...result, [key]: [...(result[key] as readonly Message[]), item] }))
const GHOST = { name: 'ghost', description: 'Is not there', inputSchema: { type: 'object' } }

prove(
  'What is listed',
  LISTED_RULES,
  [
    {
      rule: 'V141',
      does: 'lists a resource that it does not have',
      message: listing('resources/list', 'resources', { uri: 'test://ghost', name: 'ghost' }),
    },
    {
      rule: 'V141',
      does: 'lists a prompt that it does not have',
      message: listing('prompts/list', 'prompts', { name: 'ghost' }),
    },
    {
      rule: 'V142',
      does: 'lists a tool that it does not have',
      message: listing('tools/list', 'tools', GHOST),
    },
    {
      rule: 'V142',
      does: 'lists a tool, and says in a result that it does not have it',
      message: listing('tools/list', 'tools', GHOST),
      answer: ({ id, method, params }) => {
        const name = String(member(params, 'name'))
        return method === 'tools/call' && /ghost|unknown/.test(name)
          ? {
              jsonrpc: '2.0',
              id,
              result: {
                resultType: 'complete',
                content: [{ type: 'text', text: `Tool ${name} not found` }],
                isError: true,
              },
            }
          : undefined
      },
    },
  ],
  [
    {
      rule: 'V142',
      does: 'refuses the arguments of a tool as it refuses an unknown one',
      answer: ({ id, method, params }) =>
        method === 'tools/call' && /fail|unknown/.test(String(member(params, 'name')))
          ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'Invalid params' } }
          : undefined,
    },
    {
      rule: 'V142',
      does: 'removes a tool while it is used',
      message: (() => {
        let lists = 0
        return inResult('tools/list', (result) => ({
          ...result,
          tools: [...(result['tools'] as readonly Message[]), ...(lists++ < 2 ? [GHOST] : [])],
        }))
      })(),
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
      rule: 'V183',
      does: 'returns the first page for every cursor, with other cursors',
      message: (() => {
        let count = 0
        return (message: Message, request: Message | undefined) => {
          const { result } = message
          if (request?.['method'] !== 'tools/list' || !isObject(result)) return message
          const tools = (result['tools'] as readonly Message[])
            .slice(0, 1)
            .map((tool) => ({ ...tool, name: 'echo' }))
          return { ...message, result: { ...result, tools, nextCursor: `more-${++count}` } }
        }
      })(),
      answer: ({ id, method, params }) =>
        method === 'tools/list' && String(member(params, 'cursor')).startsWith('more-')
          ? {
              jsonrpc: '2.0',
              id,
              result: {
                resultType: 'complete',
                tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
                nextCursor: `${String(member(params, 'cursor'))}+`,
              },
            }
          : undefined,
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
      rule: 'V143',
      does: 'wants arguments where there are none',
      answer: ({ id, method, params }) =>
        method === 'tools/call' && isObject(params) && !Object.hasOwn(params, 'arguments')
          ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'arguments is missing' } }
          : undefined,
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
