import type { Revision } from '../../protocol/revisions.ts'
import type { Message } from '../message.ts'
import type { Turn } from './turn.ts'

/** What our server offers. */
export interface Offer {
  readonly capabilities: Message
  readonly tools: readonly Message[]
  readonly resources: readonly Message[]
  readonly prompts: readonly Message[]
}

/** How long the tool `count` takes, so that a client can send something else in the meantime. */
const COUNT_MS = 80

const NO_INPUT = { type: 'object', properties: {} }

/** What the usual server offers at a revision: something for each feature of a client. */
export function usualOffer(revision: Revision): Offer {
  const [hasCompletions, hasOutput] = [revision >= '2025-03-26', revision >= '2025-06-18']
  return {
    capabilities: {
      tools: { listChanged: true },
      resources: {},
      prompts: {},
      ...(hasCompletions && { completions: {} }),
    },
    tools: [
      {
        // The official conformance suite has this tool too, so its clients work here.
        name: 'add_numbers',
        description: 'Adds two numbers',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'number', default: 2 }, b: { type: 'number', default: 3 } },
          required: ['a', 'b'],
        },
      },
      {
        name: 'count',
        description: 'Counts to three, and reports its progress',
        inputSchema: NO_INPUT,
        ...(hasOutput && {
          outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
        }),
      },
      {
        name: 'ask_user',
        description: 'Asks the user for a name',
        inputSchema: { type: 'object', properties: { why: { type: 'string', default: 'to greet' } } },
      },
      { name: 'ask_model', description: 'Asks the model for a word', inputSchema: NO_INPUT },
      { name: 'ask_folders', description: 'Asks for the folders of the client', inputSchema: NO_INPUT },
      { name: 'fail', description: 'Always fails', inputSchema: NO_INPUT },
    ],
    resources: [
      { uri: 'test://text', name: 'text', mimeType: 'text/plain' },
      { uri: 'test://bytes', name: 'bytes', mimeType: 'image/png' },
    ],
    prompts: [
      { name: 'plain', description: 'A prompt without arguments' },
      {
        name: 'about',
        description: 'A prompt about something',
        arguments: [{ name: 'topic', description: 'What to write about', required: true }],
      },
    ],
  }
}

/** The questions of tools: the capability that they need, the method and its parameters. */
export const QUESTIONS: Readonly<{
  [tool: string]: readonly [capability: string, method: string, params: Message]
}> = {
  ask_user: [
    'elicitation',
    'elicitation/create',
    {
      message: 'What is your name?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string', default: 'Ada' } },
        required: ['name'],
      },
    },
  ],
  ask_model: [
    'sampling',
    'sampling/createMessage',
    { messages: [{ role: 'user', content: { type: 'text', text: 'One word, please' } }], maxTokens: 10 },
  ],
  ask_folders: ['roots', 'roots/list', {}],
}

/** Calls a tool of the usual server. */
export async function callTool(turn: Turn): Promise<void> {
  const name = String(turn.params['name'])
  const question = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined
  if (question !== undefined) return callAsking(turn, question)
  if (name === 'count') return callCount(turn)
  if (name === 'fail')
    return turn.reply({ content: [{ type: 'text', text: 'this tool always fails' }], isError: true })
  await turn.reply({ content: [{ type: 'text', text: `${name} was called` }] })
}

async function callCount(turn: Turn): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, COUNT_MS))
  const token = (turn.params['_meta'] as Message | undefined)?.['progressToken']
  if (token !== undefined)
    for (const progress of [1, 2, 3])
      await turn.notify('notifications/progress', { progressToken: token, progress, total: 3 })
  await turn.reply({
    content: [{ type: 'text', text: '{"count":3}' }],
    ...(turn.revision >= '2025-06-18' && { structuredContent: { count: 3 } }),
  })
}

async function callAsking(
  turn: Turn,
  [capability, method, params]: readonly [string, string, Message],
): Promise<void> {
  if (Object.hasOwn(turn.capabilities, capability)) return askAndReply(turn, method, params)
  await turn.reply({ content: [{ type: 'text', text: `the client does not declare ${capability}` }] })
}

/** Asks a question in a call, and ends the call when it was answered. */
export async function askAndReply(turn: Turn, method: string, params: Message): Promise<void> {
  const say = (text: string): Promise<void> => turn.reply({ content: [{ type: 'text', text }] })
  if (!turn.visit.isModern) {
    const answer = await turn.ask(method, { ...params, _meta: { progressToken: `asks-${method}` } })
    return say(answer === undefined ? 'no answer' : 'thank you')
  }
  if (turn.params['inputResponses'] !== undefined) return say('thank you')
  // One question has no state: a client must not send one then.
  const state = method === 'roots/list' ? undefined : `state of ${String(turn.params['name'])}: "é\u2028 ==`
  await turn.require({ question: { method, params } }, state)
}
