import { expect, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const SECRET = 'a secret of enough letters'
const name = z.object({ name: z.string() })
let charged = 0
let orders = 0

/** Finds no order at first. */
async function findOrder(): Promise<string> {
  await new Promise((resolve) => setImmediate(resolve))
  if (orders === 0) throw new Error('no such order')
  return 'held'
}

function make(secret: string | string[] = SECRET): ReturnType<typeof createServer> {
  return createServer({ name: 'rounds', version: '1', secret, log: () => undefined })
    .tool('greet', { input: z.object({ tone: z.string().optional() }) }, async ({ tone }, { elicit }) => {
      const { content } = await elicit('Your name?', name, { key: 'user_name' })
      return `${tone ?? 'Hello'} ${content?.name}`
    })
    .tool('other', { input: z.object({ tone: z.string().optional() }) }, async (_, { elicit }) => {
      const { content } = await elicit('Your name?', name, { key: 'user_name' })
      return `Other ${content?.name}`
    })
    .tool('all', {}, async (_, { elicit, sample, roots }) => {
      const [user, greeting, folders] = await Promise.all([
        elicit('Your name?', name, { key: 'user_name' }),
        sample({ messages: [{ role: 'user', content: 'Greet' }], maxTokens: 9 }, { key: 'greeting' }),
        roots({ key: 'client_roots' }),
      ])
      return JSON.stringify([user.content?.name, greeting.content, folders])
    })
    .tool('unnamed', {}, async (_, { elicit, elicitUrl, sample, roots }) => {
      const messages = [{ role: 'user', content: 'Greet' }] as const
      await Promise.all([
        elicit('Your name?', name),
        sample({ messages, maxTokens: 9 }),
        roots(),
        elicitUrl('Sign here', 'https://example.com/'),
      ])
      return 'asked'
    })
    .tool('pay', {}, async (_, { elicit, once }) => {
      const order = await once('order', () => ({ number: ++charged }))
      const first = await elicit('Pay?', z.object({ ok: z.boolean() }))
      const receipt = await once('receipt', async () => `r${order.number}`)
      const second = await elicit('Sure?', z.object({ ok: z.boolean() }))
      return JSON.stringify([order, first.content?.ok, receipt, second.content?.ok])
    })
    .tool('hold', {}, async (_, { elicit, once }) => {
      const hold = once('hold', () => findOrder())
      await elicit('Refund?', name)
      return hold
    })
    .tool('endless', {}, async (_, { elicit }) => {
      for (let at = 0; ; at++) await elicit(`Again ${at}?`, z.object({}), { key: `again-${at}` })
    })
    .prompt('greet', {}, async (_, { elicit }) => `Hello ${(await elicit('Your name?', name)).content?.name}`)
    .resource(
      'greet://me',
      {},
      async (_, { elicit }) => `Hello ${(await elicit('Your name?', name)).content?.name}`,
    )
    .prompt('completes', { args: z.object({ a: z.string() }) }, () => 'x')
    .complete('completes', 'a', async (_value, _known, { elicit }) => [(await elicit('?', name)).action])
}

const app = make()
const ASK = 'elicitation/create'
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const since = { since: '2026-07-28', capabilities } as const
const ada = { action: 'accept', content: { name: 'Ada' } }
const question = {
  method: ASK,
  params: {
    mode: 'form',
    message: 'Your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
}

interface Asking extends JsonObject {
  readonly requestState: string
  readonly inputRequests: Readonly<Record<string, JsonObject>>
}

/** The first round of a call. */
async function begin(client: Client, params: JsonObject, method = 'tools/call'): Promise<Asking> {
  return (await client.request(method, params, { rounds: false })) as Asking
}

scenario(
  'a question ends the request with the question and sealed state, and the next round goes on [R220] [R221] [R020] [R017] [R049] [S2-6.1-1]',
  app,
  async (client) => {
    const asked = await begin(client, { name: 'greet', arguments: { tone: 'Ahoy' } })
    expect(asked).toEqual({
      resultType: 'input_required',
      inputRequests: { user_name: question },
      requestState: expect.stringMatching(/^[A-Za-z0-9_-]{40,}$/) as string,
      _meta: { [META.serverInfo]: { name: 'rounds', version: '1' } },
    })
    const { requestState } = asked
    const params = {
      name: 'greet',
      arguments: { tone: 'Ahoy' },
      requestState,
      inputResponses: { user_name: ada },
    }
    expect(await client.get('tools/call', params)).toEqual({
      content: [{ type: 'text', text: 'Ahoy Ada' }],
      isError: false,
    })
  },
  since,
)

scenario(
  'prompts and resources ask in the same way [R220]',
  app,
  async (client) => {
    client.answer(ASK, () => ada)
    expect((await client.get('prompts/get', { name: 'greet' }))['messages']).toEqual([
      { role: 'user', content: { type: 'text', text: 'Hello Ada' } },
    ])
    expect((await client.get('resources/read', { uri: 'greet://me' }))['contents']).toEqual([
      { uri: 'greet://me', text: 'Hello Ada' },
    ])
    expect((await begin(client, { name: 'greet' }, 'prompts/get'))['resultType']).toBe('input_required')
    const read = await begin(client, { uri: 'greet://me' }, 'resources/read')
    expect(Object.keys(read).toSorted()).toEqual(['_meta', 'inputRequests', 'requestState', 'resultType'])
  },
  since,
)

scenario(
  'other requests never ask [R220]',
  app,
  async (client) => {
    const params = { ref: { type: 'ref/prompt', name: 'completes' }, argument: { name: 'a', value: '' } }
    expect((await refusal(client.request('completion/complete', params))).code).toBe(-32603)
  },
  since,
)

scenario(
  'several questions go out in one round, none as a request, and are answered together [R221] [R020]',
  app,
  async (client) => {
    const said = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
    client.answer(ASK, () => ada)
    client.answer('sampling/createMessage', () => said)
    client.answer('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }))
    const asked = await begin(client, { name: 'all' })
    expect(Object.keys(asked.inputRequests).toSorted()).toEqual(['client_roots', 'greeting', 'user_name'])
    const { content } = await client.call('all')
    expect(client.rounds).toBe(2)
    expect(content).toEqual([
      { type: 'text', text: JSON.stringify(['Ada', said.content, [{ uri: 'file:///a' }]]) },
    ])
    const sent = client.transcript.filter(({ from }) => from === 'server')
    for (const { text } of sent) expect(JSON.parse(text)).not.toHaveProperty('method')
  },
  since,
)

scenario(
  'a question without a key of its own is named after its kind and its turn',
  app,
  async (_client, _revision, stage) => {
    const elicitation = { form: {}, url: {} }
    const client = await stage.join({ capabilities: { ...capabilities, elicitation } })
    const { inputRequests } = await begin(client, { name: 'unnamed' })
    expect(Object.entries(inputRequests).map(([key, { method }]) => [key, method])).toEqual([
      ['elicit-1', ASK],
      ['sample-2', 'sampling/createMessage'],
      ['roots-3', 'roots/list'],
      ['elicit-4', ASK],
    ])
  },
  since,
)

scenario(
  'what must happen once happens once, and the state of each round differs [R221]',
  app,
  async (client) => {
    charged = 0
    const states = new Set<unknown>()
    client.answer(ASK, () => ({ action: 'accept', content: { ok: true } }))
    const { content } = await client.call('pay')
    expect(client.rounds).toBe(3)
    expect(charged).toBe(1)
    expect(content).toEqual([{ type: 'text', text: JSON.stringify([{ number: 1 }, true, 'r1', true]) }])
    for (const { text } of client.transcript)
      states.add((JSON.parse(text) as { result?: JsonObject }).result?.['requestState'])
    states.delete(undefined)
    expect(states.size).toBe(2)
  },
  since,
)

scenario(
  'state that was tampered with, or issued for something else, is refused [R226]',
  app,
  async (client) => {
    const { requestState: state } = await begin(client, { name: 'greet', arguments: { tone: 'Hi' } })
    const other = (await begin(client, { name: 'other', arguments: { tone: 'Hi' } })).requestState
    const prompt = (await begin(client, { name: 'greet' }, 'prompts/get')).requestState
    const flipped = `${state.slice(0, 30)}${state[30] === 'A' ? 'B' : 'A'}${state.slice(31)}`
    for (const requestState of [
      `${state}-TAMPERED`,
      `${state}=`,
      flipped,
      state.slice(1),
      state.slice(0, -4),
      '',
      'x',
      other,
      prompt,
    ]) {
      const params = {
        name: 'greet',
        arguments: { tone: 'Hi' },
        requestState,
        inputResponses: { user_name: ada },
      }
      const error = await refusal(client.request('tools/call', params))
      expect([error.code, error.message]).toEqual([
        -32602,
        'requestState was not accepted: it was not issued for this request',
      ])
    }
    for (const args of [{ tone: 'Bye' }, {}]) {
      const params = {
        name: 'greet',
        arguments: args,
        requestState: state,
        inputResponses: { user_name: ada },
      }
      expect((await refusal(client.request('tools/call', params))).code).toBe(-32602)
    }
    const right = {
      name: 'greet',
      arguments: { tone: 'Hi' },
      requestState: state,
      inputResponses: { user_name: ada },
    }
    expect((await client.get('tools/call', right))['content']).toEqual([{ type: 'text', text: 'Hi Ada' }])
  },
  since,
)

scenario(
  'state of another server is refused, and state under an earlier secret is taken [R226]',
  () => make(['a newer secret, long enough', SECRET]),
  async (client) => {
    const params = { name: 'greet', inputResponses: { user_name: ada } }
    for (const [secret, accepted] of [
      [SECRET, true],
      ['some other secret, long', false],
    ] as const) {
      const requestState = await foreignState(secret)
      const called = client.get('tools/call', { ...params, requestState })
      if (accepted) expect((await called)['content']).toEqual([{ type: 'text', text: 'Hello Ada' }])
      else expect((await refusal(called)).message).toContain('it was not issued for this request')
    }
  },
  since,
)

/** State as a server with that secret gives it to whoever calls the tool. */
function foreignState(secret: string): Promise<string> {
  const meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: capabilities }
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'greet', _meta: meta },
  })
  return new Promise((resolve) => {
    const end = make(secret).connect({
      receive: (reply) => resolve((JSON.parse(reply) as { result: Asking }).result.requestState),
    })
    end.send(text)
  })
}

scenario(
  'state that is too old is refused [R226]',
  () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    return make()
  },
  async (client) => {
    try {
      const { requestState } = await begin(client, { name: 'greet' })
      const params = { name: 'greet', requestState, inputResponses: { user_name: ada } }
      vi.setSystemTime(Date.now() + 14 * 60_000)
      expect((await client.get('tools/call', params))['isError']).toBe(false)
      vi.setSystemTime(Date.now() + 2 * 60_000)
      const error = await refusal(client.request('tools/call', params))
      expect([error.code, error.message]).toEqual([-32602, 'requestState was not accepted: it has expired'])
    } finally {
      vi.useRealTimers()
    }
  },
  since,
)

scenario(
  'missing answers are asked again and those that came are kept; extra ones are ignored [R227]',
  app,
  async (client) => {
    const first = await begin(client, { name: 'all' })
    const inputResponses = { user_name: ada, nobody_asked: ada, ['__proto__']: ada }
    const second = await begin(client, { name: 'all', requestState: first.requestState, inputResponses })
    expect(Object.keys(second.inputRequests).toSorted()).toEqual(['client_roots', 'greeting'])
    const greeting = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
    const rest = { greeting, client_roots: { roots: [] } }
    const params = { name: 'all', requestState: second.requestState, inputResponses: rest }
    expect((await client.get('tools/call', params))['content']).toEqual([
      { type: 'text', text: JSON.stringify(['Ada', greeting.content, []]) },
    ])
  },
  since,
)

scenario(
  'malformed answers never complete a request [R227]',
  app,
  async (client) => {
    const { requestState } = await begin(client, { name: 'greet' })
    for (const user_name of [12345, 'Ada', null, [], { action: 'maybe' }]) {
      const params = { name: 'greet', requestState, inputResponses: { user_name } }
      const error = await refusal(client.request('tools/call', params))
      expect(error.code).toBe(-32602)
      expect(error.message).toMatch(/the answer to "user_name" cannot be read: /)
    }
    for (const content of [{ name: 5 }, {}]) {
      const inputResponses = { user_name: { action: 'accept', content } }
      const result = await client.get('tools/call', { name: 'greet', requestState, inputResponses })
      const said = /^the client sent an invalid answer to elicitation\/create: name: /
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(said) }] })
    }
    for (const inputResponses of [[], 'x', 5]) {
      const error = await refusal(
        client.request('tools/call', { name: 'greet', requestState, inputResponses }),
      )
      expect([error.code, error.message]).toEqual([
        -32602,
        'invalid params for tools/call: inputResponses is not an object',
      ])
    }
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, {}]))
    for (const inputResponses of [many, { ...many, user_name: { action: 'decline' } }])
      expect((await refusal(client.request('tools/call', { name: 'greet', inputResponses }))).message).toBe(
        'invalid params for tools/call: inputResponses has more than 10000 members',
      )
    const none = await client.post(
      client.requestText(99, 'tools/call', { name: 'greet', requestState, inputResponses: null }),
    )
    expect(none).toMatchObject({ result: { resultType: 'input_required' } })
    const error = await refusal(
      client.request('tools/call', { name: 'greet', requestState: 5, inputResponses: {} }),
    )
    expect([error.code, error.message]).toEqual([
      -32602,
      'invalid params for tools/call: requestState is not a string',
    ])
  },
  since,
)

scenario(
  'answers may come with the first request [R227] [R050]',
  app,
  async (client) => {
    const params = { name: 'greet', inputResponses: { user_name: ada } }
    expect((await client.get('tools/call', params))['content']).toEqual([{ type: 'text', text: 'Hello Ada' }])
    expect((await begin(client, { name: 'greet' })).inputRequests).toEqual({ user_name: question })
  },
  since,
)

scenario(
  'answers that are kept travel with the client, and each round asks and adds only its own [R221]',
  app,
  async (client) => {
    client.answer(ASK, () => ({ action: 'accept', content: {} }))
    await expect(client.call('endless')).rejects.toThrow('still asks after 10 rounds')
    const rounds = client.transcript
      .filter(({ from }) => from === 'server')
      .map(({ text }) => (JSON.parse(text) as { result: Asking }).result)
    expect(rounds.map(({ inputRequests }) => Object.keys(inputRequests))).toEqual(
      Array.from({ length: 10 }, (_, at) => [`again-${at}`]),
    )
    const sizes = rounds.map(({ requestState }) => requestState.length)
    for (const [at, size] of sizes.slice(1).entries()) expect(size - sizes[at]!).toBeLessThan(200)
  },
  since,
)

scenario(
  'a function of ctx.once that fails beside a question runs again in the next round, and nothing is unhandled [R220]',
  app,
  async (client) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): unknown => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    orders = 0
    const { requestState, inputRequests } = await begin(client, { name: 'hold' })
    expect(unhandled).toEqual([])
    orders = 1
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ada]))
    expect(
      (await client.get('tools/call', { name: 'hold', requestState, inputResponses }))['content'],
    ).toEqual([{ type: 'text', text: 'held' }])
  },
  since,
)
