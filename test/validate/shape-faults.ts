import { isObject, type Message } from '../../src/validate/message.ts'
import { inResult, type Fault } from './fault.ts'

/** Changes every item of a list in the results of a method. */
const each = (method: string, key: string, change: (item: Message) => Message): Pick<Fault, 'message'> => ({
  message: inResult(method, (result) =>
    Array.isArray(result[key])
      ? { ...result, [key]: (result[key] as readonly Message[]).map((item) => change(item)) }
      : result,
  ),
})

/** Changes the result of a method. */
const of = (method: string, change: (result: Message) => Message): Pick<Fault, 'message'> => ({
  message: inResult(method, change),
})

/** Puts one block into the place of the content of calls. */
const block = (content: unknown): Pick<Fault, 'message'> =>
  of('tools/call', (result) =>
    Array.isArray(result['content']) ? { ...result, content: [content] } : result,
  )

/** Puts one message into the place of those of prompts. */
const said = (message: unknown): Pick<Fault, 'message'> =>
  of('prompts/get', (result) => ({ ...result, messages: [message] }))

const capability = (name: string, value: unknown): Pick<Fault, 'message'> => ({
  message: (message, request) => {
    const changed = (result: Message): Message => ({
      ...result,
      capabilities: { ...(result['capabilities'] as Message), [name]: value },
    })
    return ['initialize', 'server/discover'].includes(String(request?.['method'])) &&
      isObject(message['result'])
      ? { ...message, result: changed(message['result']) }
      : message
  },
})

/** Changes the parameters of the questions of a server. */
const asked = (method: string, change: (params: Message) => Message): Pick<Fault, 'message'> => ({
  message: (message) => {
    const result = message['result']
    if (message['method'] === method) return { ...message, params: change(message['params'] as Message) }
    if (!isObject(result) || !isObject(result['inputRequests'])) return message
    const questions = Object.entries(result['inputRequests'] as Record<string, Message>)
    return {
      ...message,
      result: {
        ...result,
        inputRequests: Object.fromEntries(
          questions.map(([key, one]) => [
            key,
            one['method'] === method ? { ...one, params: change(one['params'] as Message) } : one,
          ]),
        ),
      },
    }
  },
})

type Row = readonly [string, Pick<Fault, 'message'>]

const LINK = { type: 'resource_link', uri: 'test://x', name: 'x' }

const ANYWHERE: readonly Row[] = [
  ['has a text for tools.listChanged', capability('tools', { listChanged: 'yes' })],
  ['has a number for resources.subscribe', capability('resources', { subscribe: 1 })],
  ['has true for prompts', capability('prompts', true)],
  ['has a list of experimental capabilities', capability('experimental', ['x'])],
  ['has contents without text and blob', each('resources/read', 'contents', ({ uri }) => ({ uri }))],
  [
    'has null as the MIME type of contents',
    each('resources/read', 'contents', (one) => ({ ...one, mimeType: null })),
  ],
  [
    'has a list as the _meta of contents',
    each('resources/read', 'contents', (one) => ({ ...one, _meta: [] })),
  ],
  ['has fractions as sizes', each('resources/list', 'resources', (one) => ({ ...one, size: 1.5 }))],
  [
    'has an audience of one text',
    each('resources/list', 'resources', (one) => ({ ...one, annotations: { audience: 'user' } })),
  ],
  [
    'has an audience that there is not',
    each('resources/list', 'resources', (one) => ({ ...one, annotations: { audience: ['admin'] } })),
  ],
  ['has a list of annotations', each('resources/list', 'resources', (one) => ({ ...one, annotations: [] }))],
  [
    'has null as the next cursor of resources',
    of('resources/list', (result) => ({ ...result, nextCursor: null })),
  ],
  [
    'has a number as the next cursor of prompts',
    of('prompts/list', (result) => ({ ...result, nextCursor: 2 })),
  ],
  [
    'has a number as the next cursor of templates',
    of('resources/templates/list', (result) => ({ ...result, nextCursor: 2 })),
  ],
  ['has a number as isError', of('tools/call', (result) => ({ ...result, isError: 0 }))],
  ['has null as isError', of('tools/call', (result) => ({ ...result, isError: null }))],
  [
    'has one block in place of content',
    of('tools/call', (result) => ({ ...result, content: { type: 'text', text: 'x' } })),
  ],
  ['has texts as content', block('a text')],
  ['has a number as a text', block({ type: 'text', text: 7 })],
  ['has a text block without text', block({ type: 'text' })],
  [
    'has an embedded resource without text and blob',
    block({ type: 'resource', resource: { uri: 'test://x' } }),
  ],
  ['has an embedded resource that is a text', block({ type: 'resource', resource: 'test://x' })],
  [
    'has a blob that is not base64 in an embedded resource',
    block({ type: 'resource', resource: { uri: 'test://x', blob: 'a b' } }),
  ],
  ['has annotations of content that are a text', block({ type: 'text', text: 'x', annotations: 'user' })],
  ['has a priority that is a text', block({ type: 'text', text: 'x', annotations: { priority: 'high' } })],
  ['has one content in a list', said({ role: 'user', content: [{ type: 'text', text: 'x' }] })],
  ['has content of messages that is a text', said({ role: 'user', content: 'x' })],
  ['has messages without a role', said({ content: { type: 'text', text: 'x' } })],
  ['has messages that are texts', said('x')],
  [
    'has the total of completions as a text',
    of('completion/complete', (result) => ({ ...result, completion: { values: [], total: '3' } })),
  ],
  [
    'has hasMore as a number',
    of('completion/complete', (result) => ({ ...result, completion: { values: [], hasMore: 0 } })),
  ],
  ['has a list as the _meta of results', of('tools/list', (result) => ({ ...result, _meta: [] }))],
  ['has a text as the _meta of tools', each('tools/list', 'tools', (one) => ({ ...one, _meta: 'x' }))],
  ['has null as a description', each('tools/list', 'tools', (one) => ({ ...one, description: null }))],
  [
    'asks the model with a text as content',
    asked('sampling/createMessage', (params) => ({ ...params, messages: [{ role: 'user', content: 'x' }] })),
  ],
  [
    'asks the model as the system',
    asked('sampling/createMessage', (params) => ({
      ...params,
      messages: [{ role: 'system', content: { type: 'text', text: 'x' } }],
    })),
  ],
  [
    'asks the model with a block without text',
    asked('sampling/createMessage', (params) => ({
      ...params,
      messages: [{ role: 'user', content: { type: 'text' } }],
    })),
  ],
  [
    'has a fraction as maxTokens',
    asked('sampling/createMessage', (params) => ({ ...params, maxTokens: 1.5 })),
  ],
  [
    'has a text as the preference for a model',
    asked('sampling/createMessage', (params) => ({ ...params, modelPreferences: { hints: ['x'] } })),
  ],
  [
    'has a preference above 1',
    asked('sampling/createMessage', (params) => ({ ...params, modelPreferences: { speedPriority: 7 } })),
  ],
]

const FROM_C: readonly Row[] = [
  ['has a link without a name', block({ type: 'resource_link', uri: 'test://x' })],
  ['has a link with a number as its MIME type', block({ ...LINK, mimeType: 7 })],
  ['has a number as a title', each('tools/list', 'tools', (one) => ({ ...one, title: 7 }))],
  [
    'has a text as an output schema',
    each('tools/list', 'tools', (one) => ({ ...one, outputSchema: 'object' })),
  ],
  [
    'asks with a text as a schema',
    asked('elicitation/create', (params) => ({ ...params, requestedSchema: 'x' })),
  ],
  ['asks with a number as the message', asked('elicitation/create', (params) => ({ ...params, message: 7 }))],
]

/** Servers with a member of a wrong type. */
export const SHAPE_FAULTS: readonly Fault[] = [
  ...ANYWHERE.map(([does, fault]): Fault => ({ rule: 'V090', does, ...fault })),
  ...FROM_C.map(([does, fault]): Fault => ({
    rule: 'V090',
    does,
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    ...fault,
  })),
]
