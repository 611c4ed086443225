import { afterAll, beforeAll, expect, test } from 'vitest'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'
import { PROMPT_RULES } from '../../src/validate/server-rules/prompts.ts'
import { SHAPE_RULES } from '../../src/validate/server-rules/shapes.ts'
import type { Message } from '../../src/validate/message.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Transport } from '../../src/validate/rule.ts'
import { inResult, without, type Fault } from './fault.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { INFO_FAULTS } from './modern-faults.ts'
import { outcomesOf, prove } from './prove.ts'
import { SHAPE_FAULTS } from './shape-faults.ts'

const listed = (change: (tool: Message) => Message) =>
  inResult('tools/list', (result) => ({
    ...result,
    tools: (result['tools'] as readonly Message[]).map((tool) => change(tool)),
  }))

/** Changes the content of prompts. */
const inPrompts = (content: () => Message): NonNullable<Fault['message']> =>
  inResult('prompts/get', (result) => ({ ...result, messages: [{ role: 'user', content: content() }] }))

prove(
  'types of members',
  SHAPE_RULES,
  [
    ...INFO_FAULTS,
    {
      rule: 'V096',
      does: 'adds members to responses',
      message: (message) => ('method' in message ? message : { ...message, time: 3 }),
    },
    {
      rule: 'V096',
      does: 'adds members to errors',
      message: (message) =>
        'error' in message ? { ...message, error: { ...(message['error'] as object), stack: 'x' } } : message,
    },
    {
      rule: 'V096',
      does: 'repeats the method in responses',
      message: (message, request) =>
        request?.['method'] === 'tools/call' ? { ...message, method: 'tools/call' } : message,
    },
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
      rule: 'V090',
      does: 'lists tools without a schema',
      message: listed((tool) => without(tool, 'inputSchema')),
    },
    {
      rule: 'V090',
      does: 'reports progress without a number',
      message: (message) =>
        message['method'] === 'notifications/progress'
          ? { ...message, params: without(message['params'] as Message, 'progress') }
          : message,
    },
    {
      rule: 'V090',
      does: 'sends content of a type that there is not',
      message: inPrompts(() => ({ type: 'html', text: '<p>' })),
    },
    {
      rule: 'V090',
      does: 'sends a picture without its type',
      message: inPrompts(() => ({ type: 'image', data: 'iVBORw0KGgo=' })),
    },
    {
      rule: 'V090',
      does: 'sends a picture that is not base64',
      message: inPrompts(() => ({ type: 'image', data: 'a picture', mimeType: 'image/png' })),
    },
    {
      rule: 'V090',
      does: 'has a priority above 1',
      message: inResult('resources/list', (result) => ({
        ...result,
        resources: (result['resources'] as readonly Message[]).map((one) => ({
          ...one,
          annotations: { priority: 5 },
        })),
      })),
    },
    {
      rule: 'V090',
      does: 'asks a question without words',
      message: (message) =>
        message['method'] === 'elicitation/create'
          ? { ...message, params: without(message['params'] as Message, 'message') }
          : message,
      revisions: ['2025-06-18', '2025-11-25'],
    },
    {
      rule: 'V090',
      does: 'asks a question in a result without words',
      message: inResult('tools/call', (result) => {
        const questions = Object.entries((result['inputRequests'] ?? {}) as Record<string, Message>)
        return result['inputRequests'] === undefined
          ? result
          : {
              ...result,
              inputRequests: Object.fromEntries(
                questions.map(([key, one]) => [
                  key,
                  { ...one, params: without(one['params'] as Message, 'message', 'maxTokens') },
                ]),
              ),
            }
      }),
      revisions: ['2026-07-28'],
    },
    {
      rule: 'V091',
      does: 'answers everything twice',
      message: (message, request) => (request === undefined ? message : [message, message]),
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

/** Changes every item of a list in the results of a method. */
const each = (method: string, key: string, change: (item: Message) => Message): Pick<Fault, 'message'> => ({
  message: inResult(method, (result) => ({
    ...result,
    [key]: (result[key] as readonly Message[]).map((item) => change(item)),
  })),
})

/** Adds a response with an id that a request on another connection has. */
const strayAfter = (method: string, id: unknown): Pick<Fault, 'message'> => ({
  message: (message, request) =>
    request?.['method'] === method && 'result' in message ? [message, { ...message, id }] : message,
})

type Row = readonly [string, string, Pick<Fault, 'message'>, (readonly Transport[])?]

const IN_A_RUN: readonly Row[] = [
  [
    'V090',
    'a number as the MIME type of contents',
    each('resources/read', 'contents', (one) => ({ ...one, mimeType: 5 })),
  ],
  [
    'V090',
    'a number as the description of a prompt that is got',
    { message: inResult('prompts/get', (result) => ({ ...result, description: 5 })) },
  ],
  [
    'V090',
    'a number as the MIME type of templates',
    each('resources/templates/list', 'resourceTemplates', (one) => ({ ...one, mimeType: 5 })),
  ],
  [
    'V090',
    'a text as the size of resources',
    each('resources/list', 'resources', (one) => ({ ...one, size: '5' })),
  ],
  [
    'V090',
    'a text that says whether an argument is required',
    each('prompts/list', 'prompts', (one) => ({ ...one, arguments: [{ name: 'x', required: 'yes' }] })),
  ],
  ['V090', 'contents without a URI', each('resources/read', 'contents', (one) => without(one, 'uri'))],
  ['V091', 'a response with the id of a number elsewhere', strayAfter('resources/read', 4_711)],
  ['V091', 'a response with the id of a text elsewhere', strayAfter('prompts/get', 'after')],
  ['V091', 'a response with the id of another POST', strayAfter('prompts/list', 3), ['http']],
]

/** Where runs with all rules are tried: each connection counts its ids from 1 there. */
const PLACES: readonly { readonly revision: Revision; readonly transport: Transport }[] = [
  { revision: '2025-11-25', transport: 'stdio' },
  { revision: '2025-11-25', transport: 'http' },
  { revision: '2026-07-28', transport: 'http' },
]

let served: Served
beforeAll(async () => {
  served = await serveEverywhere(createFixture())
})
afterAll(() => served.close())

test.concurrent.each(
  IN_A_RUN.flatMap(([rule, has, fault, transports]) =>
    PLACES.filter(({ transport }) => transports?.includes(transport) ?? true).map((place) => ({
      ...place,
      rule,
      has,
      fault,
    })),
  ),
)(
  '$rule sees $has in a run with all rules, at $revision on $transport',
  async ({ rule, has, fault, ...place }) => {
    const outcomes = await outcomesOf(served, SERVER_RULES, {
      ...place,
      fault: { rule, does: has, ...fault },
    })
    expect(outcomes.find(({ id }) => id === rule)).toMatchObject({ is: 'failed' })
  },
)

test.concurrent.each(SHAPE_FAULTS)('$rule sees a server that $does', async (fault) => {
  // The rules about prompts ask for completions.
  const outcomes = await outcomesOf(served, [...PROMPT_RULES, ...SHAPE_RULES], {
    revision: '2025-11-25',
    transport: 'http',
    fault,
  })
  expect(outcomes.find(({ id }) => id === fault.rule)).toMatchObject({ is: 'failed' })
})
