import { expect, test } from 'vitest'
import { ROUND_RULES } from '../../src/validate/server-rules/rounds.ts'
import { createServer } from '../../src/index.ts'
import { checkServer } from '../../src/validate/run.ts'
import { ServerSubject } from '../../src/validate/server-subject.ts'
import { SUBSCRIPTION_RULES } from '../../src/validate/server-rules/subscriptions.ts'
import { Trace } from '../../src/validate/trace.ts'
import { member, type Message } from '../../src/validate/message.ts'
import { inResult, without, type Fault } from './fault.ts'
import { faultyDoor, type Served } from './faulty-door.ts'
import { LISTEN_FAULTS, LISTEN_VARIANTS } from './modern-faults.ts'
import { prove } from './prove.ts'

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const ASKING = {
  resultType: 'input_required',
  inputRequests: { q: { method: 'elicitation/create', params: {} } },
}

/** Changes results that ask for input. */
function inQuestion(change: (result: Message) => Message): NonNullable<Fault['message']> {
  return (message) =>
    member(message, 'result', 'resultType') === 'input_required'
      ? { ...message, result: change(message['result'] as Message) }
      : message
}

const FAULTS: readonly Fault[] = [
  {
    rule: 'R221',
    does: 'asks for nothing, and gives no state',
    message: inResult('tools/call', (result) =>
      result['resultType'] === 'input_required'
        ? { ...without(result, 'requestState'), inputRequests: {} }
        : result,
    ),
  },
  {
    rule: 'R220',
    does: 'asks for input in a list',
    message: (message, request) =>
      request?.['method'] === 'prompts/list'
        ? { jsonrpc: '2.0', id: message['id'], result: ASKING }
        : message,
  },
  {
    rule: 'R221',
    does: 'asks for nothing',
    message: inQuestion((result) => without(result, 'inputRequests', 'requestState')),
  },
  {
    rule: 'R222',
    does: 'asks what the client did not declare',
    answer: ({ id, method, params }) =>
      method === 'tools/call' &&
      member(params, '_meta', CAPABILITIES, 'elicitation') === undefined &&
      member(params, 'name') === 'ask'
        ? { jsonrpc: '2.0', id, result: ASKING }
        : undefined,
  },
  {
    rule: 'R226',
    does: 'believes any state',
    answer: ({ id, method, params }) =>
      method === 'tools/call' && member(params, 'requestState') !== undefined
        ? { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } }
        : undefined,
  },
  {
    rule: 'R227',
    does: 'fails without an answer',
    answer: ({ id, method, params }) =>
      method === 'tools/call' &&
      Object.keys((member(params, 'inputResponses') ?? { x: 1 }) as object).length === 0
        ? { jsonrpc: '2.0', id, error: { code: -32_602, message: 'no answer' } }
        : undefined,
  },
]

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** Sends more after the acknowledgement. */
function acknowledgedAnd(method: string, hasId: boolean): NonNullable<Fault['message']> {
  return (message) => {
    const meta = member(message, 'params', '_meta')
    return message['method'] === ACKNOWLEDGED
      ? [message, { jsonrpc: '2.0', method, params: hasId ? { _meta: meta } : {} }]
      : message
  }
}

const SUBSCRIPTION_FAULTS: readonly Fault[] = [
  {
    rule: 'R228',
    does: 'does not name the subscription of a change',
    message: acknowledgedAnd('notifications/tools/list_changed', false),
  },
  {
    rule: 'R229',
    does: 'sends what was not asked for',
    message: acknowledgedAnd('notifications/prompts/list_changed', true),
  },
  {
    rule: 'R228',
    does: 'names another subscription',
    message: (message) =>
      message['method'] === 'notifications/subscriptions/acknowledged'
        ? { ...message, params: { ...(message['params'] as Message), _meta: {} } }
        : message,
  },
  {
    rule: 'R229',
    does: 'acknowledges everything',
    message: (message) =>
      message['method'] === 'notifications/subscriptions/acknowledged'
        ? {
            ...message,
            params: {
              ...(message['params'] as Message),
              notifications: { toolsListChanged: true, promptsListChanged: true },
            },
          }
        : message,
  },
  {
    rule: 'R230',
    does: 'ends subscriptions with a result of another method',
    answer: ({ id, method }) =>
      method === 'subscriptions/listen'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/subscriptions/acknowledged',
              params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
            },
            { jsonrpc: '2.0', id, result: { resultType: 'complete', tools: [] } },
          ]
        : undefined,
  },
  {
    rule: 'R230',
    does: 'hangs up',
    transports: ['http'],
    http: (request, next) =>
      request.message?.['method'] === 'subscriptions/listen'
        ? {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            body: `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' })}\n\n`,
          }
        : next(),
  },
]

const SUBSCRIPTION_VARIANTS: readonly Fault[] = [
  {
    rule: 'R228',
    does: 'announces a change',
    message: acknowledgedAnd('notifications/tools/list_changed', true),
  },
  {
    rule: 'R229',
    does: 'acknowledges an empty list',
    message: (message) =>
      message['method'] === ACKNOWLEDGED
        ? {
            ...message,
            params: {
              ...(message['params'] as Message),
              notifications: { toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: [] },
            },
          }
        : message,
  },
  {
    rule: 'R230',
    does: 'ends subscriptions in order',
    answer: ({ id, method }) =>
      method === 'subscriptions/listen'
        ? [
            {
              jsonrpc: '2.0',
              method: 'notifications/subscriptions/acknowledged',
              params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
            },
            {
              jsonrpc: '2.0',
              id,
              result: {
                resultType: 'complete',
                _meta: { 'io.modelcontextprotocol/subscriptionId': id },
              },
            },
          ]
        : undefined,
  },
]

prove('Rounds', ROUND_RULES, FAULTS)
prove(
  'Subscriptions',
  SUBSCRIPTION_RULES,
  [...SUBSCRIPTION_FAULTS, ...LISTEN_FAULTS],
  [...SUBSCRIPTION_VARIANTS, ...LISTEN_VARIANTS],
)

test('over stdio each connection is a program of its own, which knows only its own states', async () => {
  let programs = 0
  const open: ServerSubject['door']['open'] = async (trace, ms) => {
    const secret = `a secret of 32 characters, nr ${String(++programs).padStart(4, '0')}`
    const app = createServer({ name: 'asking', version: '1.0.0', secret })
    app.tool(
      'ask',
      { description: 'Asks', input: { type: 'object', properties: {} } },
      async (_input, ctx) => {
        const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
        return (await ctx.elicit('What is your name?', form)).action
      },
    )
    const served: Served = { app, addresses: {} as Served['addresses'], close: () => Promise.resolve() }
    const { door } = await faultyDoor(served, 'stdio', undefined)
    return door.open(trace, ms)
  }
  const subject = new ServerSubject({
    door: { transport: 'stdio', open },
    revision: '2026-07-28',
    trace: new Trace(),
    mayCall: true,
    ms: 2_500,
  })
  try {
    const rules = ROUND_RULES.filter(({ id }) => id === 'R226' || id === 'R227')
    const outcomes = await checkServer(rules, subject, {
      until: performance.now() + 30_000,
      signal: new AbortController().signal,
    })
    expect(outcomes.map(({ id, is }) => `${id} ${is}`)).toEqual(['R226 passed', 'R227 passed'])
    expect(programs).toBeGreaterThan(1)
  } finally {
    await subject.close()
  }
})
