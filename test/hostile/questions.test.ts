import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { connect, type Answers } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import {
  after,
  EARLIER,
  WAYS,
  endOf,
  failure,
  meet,
  quiet,
  serveWell,
  text,
  until,
  web,
  type Asked,
  type Attack,
} from './peer.ts'
import { heldHeap } from '../harness/memory.ts'

const FORM = { message: 'name?', requestedSchema: { type: 'object', properties: {} } }
const ASKS: readonly (readonly [method: string, params: object])[] = [
  ['sampling/createMessage', { messages: [], maxTokens: 1 }],
  ['elicitation/create', FORM],
  ['elicitation/create', { mode: 'url', message: 'visit', url: 'https://example.com/', elicitationId: '1' }],
  ['roots/list', {}],
  ['tools/call', { name: 'x' }],
  ['tools/list', {}],
  ['initialize', {}],
  ['__proto__', {}],
  ['constructor', {}],
  ['x'.repeat(10_000), {}],
]

/** Asks everything before it answers a call, and once more when the client says how it likes that. */
function asking(asks: readonly (readonly [string, unknown])[]): Attack {
  return ({ method }, wire) => {
    if (method !== 'tools/call') return false
    for (const [index, [asked, params]] of asks.entries())
      wire.send({ jsonrpc: '2.0', id: `q${index}`, method: asked, params })
    setTimeout(() => wire.reply(text('done')), 100)
    return undefined
  }
}

function replies(seen: readonly Asked[]): readonly Asked[] {
  return seen.filter(({ method, id }) => method === undefined && String(id).startsWith('q'))
}

test.each(WAYS)(
  'C.server-requests requests for undeclared capabilities are refused, over %s',
  async (way) => {
    const { client, seen } = await meet(way, asking(ASKS), { speaks: EARLIER })
    const handshake = seen.find(({ method }) => method === 'initialize')
    expect(handshake?.params['capabilities']).toEqual({})
    expect(await client.call('echo')).toBe('done')
    await until(() => replies(seen).length === ASKS.length)
    for (const { error } of replies(seen)) expect([-32601, -32602]).toContain(error?.code)
  },
)

test.each(WAYS)('C.server-requests what was declared is answered, and only that, over %s', async (way) => {
  const asked: unknown[] = []
  const answers: Answers = { elicit: (question) => (asked.push(question), { action: 'decline' }) }
  const { client, seen } = await meet(way, asking(ASKS), { speaks: EARLIER, answers })
  expect(await client.call('echo')).toBe('done')
  await until(() => replies(seen).length === ASKS.length)
  expect(asked).toHaveLength(1)
  expect(replies(seen).filter(({ result }) => result !== undefined)).toHaveLength(1)
})

test.each(WAYS)(
  'C.server-requests at the newest revision nothing is answered that comes as a request, over %s',
  async (way) => {
    const asked: unknown[] = []
    const answers: Answers = {
      elicit: (question) => (asked.push(question), { action: 'decline' }),
      roots: [],
    }
    const { client, seen } = await meet(way, asking(ASKS), { answers })
    expect(await client.call('echo')).toBe('done')
    await quiet(50)
    expect(asked).toEqual([])
    expect(replies(seen)).toEqual([])
  },
)

test.each(WAYS)('C.server-requests undeclared questions in a result end the call, over %s', async (way) => {
  for (const [method, params] of ASKS) {
    const { client, count } = await meet(way, (asked, wire) =>
      asked.method === 'tools/call'
        ? wire.reply({ resultType: 'input_required', inputRequests: { a: { method, params } } })
        : false,
    )
    expect(await failure(client.call('echo'))).toMatchObject({ name: 'McpError' })
    expect(count('tools/call')).toBe(1)
    await client.close()
  }
})

test.each(WAYS)(
  'C.server-requests URLs that are no web addresses are never offered to the user, over %s',
  async (way) => {
    const urls = [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:text/html,x',
      'x',
      '',
      'vbscript:x',
      ' https://example.com',
      'https://',
      'http:example.com',
      'https:\\\\evil',
      7,
      null,
    ]
    const shown: string[] = []
    const answers: Answers = { elicitUrl: ({ url }) => (shown.push(url), { action: 'decline' }) }
    const asks = urls.map(
      (url) => ['elicitation/create', { mode: 'url', message: 'visit', elicitationId: '1', url }] as const,
    )
    const { client, seen } = await meet(way, asking(asks), { speaks: EARLIER, answers })
    await client.call('echo')
    await until(() => replies(seen).length === asks.length)
    expect(shown.filter((url) => !/^https?:\/\/[a-z]/.test(url))).toEqual([])
  },
)

test('C.server-requests the user is shown the URL that a browser opens, without characters that hide a part of it', async () => {
  const hidden = [
    'https://evil.example/\u001b[2K\rhttps://github.com/login/device',
    'https://evil.example/\u202emoc.buhtig',
    // A user name that looks like a host is rejected.
    'https://git\nhub.com@evil.example/',
    'HTTPS://EVIL.example',
  ]
  const shown: string[] = []
  const answers: Answers = { elicitUrl: ({ url }) => (shown.push(url), { action: 'decline' }) }
  const asks = hidden.map((url) => ['elicitation/create', { mode: 'url', message: 'visit', url }] as const)
  const { client, seen } = await meet('memory', asking(asks), { speaks: EARLIER, answers })
  await client.call('echo')
  await until(() => replies(seen).length === asks.length)
  expect(shown).toEqual([
    'https://evil.example/%1B[2Khttps://github.com/login/device',
    'https://evil.example/%E2%80%AEmoc.buhtig',
    'https://evil.example/',
  ])
})

test.each(WAYS)(
  'C.server-requests questions without shape do not disturb the client, over %s',
  async (way) => {
    const shapes = [
      null,
      7,
      'x',
      [],
      { requestedSchema: null },
      { requestedSchema: 'x', message: 7 },
      { message: null, requestedSchema: { properties: null } },
      { mode: {}, message: 'x' },
      { messages: 7 },
    ]
    const answers: Answers = {
      elicit: ({ schema }) => ({
        action: 'accept',
        content: Object.fromEntries(Object.keys(schema['properties'] ?? {}).map((name) => [name, 1])),
      }),
      sample: ({ messages }) => ({
        role: 'assistant',
        content: { type: 'text', text: String((messages as unknown[]).length) },
        model: 'm',
      }),
      roots: [],
    }
    const asks = ['elicitation/create', 'sampling/createMessage', 'roots/list'].flatMap((method) =>
      shapes.map((params) => [method, params] as const),
    )
    const { client } = await meet(way, asking(asks), { speaks: EARLIER, answers })
    expect(['fine', 'bad_answer']).toContain(await endOf(client.call('echo')))
    expect(await endOf(client.ping())).toBe('fine')
  },
)

test.each(WAYS)(
  'C.server-requests a form whose schema is not that of an object does not reach the user, over %s',
  async (way) => {
    const bad = [
      'x',
      null,
      7,
      [],
      {},
      { type: 'string' },
      { type: ['object'], properties: {} },
      { type: 'object', properties: null },
      { type: 'object', properties: [] },
      { type: 'object', properties: { a: 'string' } },
      { type: 'object', properties: { a: null } },
      { type: 'object', properties: { a: [] } },
      { type: 'object', properties: {}, required: 'a' },
      { type: 'object', properties: {}, required: [7] },
    ]
    const shown: unknown[] = []
    const answers: Answers = { elicit: ({ schema }) => (shown.push(schema), { action: 'accept' }) }
    const asks = [...bad, FORM.requestedSchema, undefined].map(
      (requestedSchema) => ['elicitation/create', { message: 'm', requestedSchema }] as const,
    )
    const { client, seen } = await meet(way, asking(asks), { speaks: EARLIER, answers })
    await client.call('echo')
    await until(() => replies(seen).length === asks.length)
    const refused = replies(seen).filter(({ error }) => error !== undefined)
    expect(refused).toHaveLength(bad.length)
    for (const { error } of refused)
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('requestedSchema') })
    expect(shown).toEqual([FORM.requestedSchema, FORM.requestedSchema])
  },
)

test.each(WAYS)(
  'C.server-requests a flood of questions is not answered without bound, over %s',
  async (way) => {
    const flood = Array.from({ length: 20_000 }, () => ['elicitation/create', FORM] as const)
    let open = 0
    let most = 0
    const answers: Answers = {
      elicit: async (_, signal) => {
        most = Math.max(most, ++open)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        open--
        return { action: 'cancel' }
      },
    }
    const { client } = await meet(way, asking(flood), { speaks: EARLIER, answers })
    expect(await client.call('echo')).toBe('done')
    expect(most).toBeLessThanOrEqual(1024)
    await client.close()
    await until(() => open === 0)
  },
)

test.each(WAYS)(
  'C.server-requests questions without an object of params end the call, over %s',
  async (way) => {
    let asked = 0
    const answers: Answers = {
      elicit: () => (asked++, { action: 'decline' }),
      sample: () => (asked++, {}),
      roots: () => (asked++, []),
    }
    let question: JsonObject = {}
    const { client, count } = await meet(
      way,
      ({ method }, wire) =>
        method === 'tools/call'
          ? wire.reply({ resultType: 'input_required', inputRequests: { question } })
          : false,
      { answers },
    )
    let calls = 0
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
      for (const params of ['x'.repeat(100), 7, true, ['x']]) {
        question = { method, params }
        expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
        calls++
      }
    expect([asked, count('tools/call')]).toEqual([0, calls])
  },
)

test('C.server-requests replies that a web server does not take occupy few connections', async () => {
  const held: ServerResponse[] = []
  let replied = 0
  let holds = true
  const { url } = await web((request, response) => {
    const asked = request.body === '' ? {} : (JSON.parse(request.body) as { id?: unknown; method?: string })
    if (request.verb === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let id = 0; id < 200; id++)
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: `q${id}`, method: 'ping' })}\n\n`)
      return undefined
    }
    if (asked.method !== undefined || request.verb !== 'POST')
      return serveWell(request, response, EARLIER, 'one')
    replied++
    return holds ? held.push(response) : response.writeHead(202).end()
  })
  const client = await connect(url, { revision: EARLIER, timeout: '30s' })
  after(() => client.close())
  await client.ping()
  await until(() => held.length >= 16)
  // Whatever else the client had sent would have arrived before these.
  for (let times = 0; times < 20; times++) await client.ping()
  expect(held.length).toBe(16)
  holds = false
  for (const response of held) response.writeHead(202).end()
  await until(() => replied === 200)
})

test('C.server-requests a flood of questions in one result is refused', async () => {
  let asked = 0
  const answers: Answers = { elicit: () => (asked++, { action: 'decline' }) }
  const { client } = await meet(
    'memory',
    ({ method }, wire) => {
      if (method !== 'tools/call') return false
      const inputRequests = Object.fromEntries(
        Array.from({ length: 20_000 }, (_, index) => [
          `k${index}`,
          { method: 'elicitation/create', params: FORM },
        ]),
      )
      return wire.reply({ resultType: 'input_required', inputRequests })
    },
    { answers },
  )
  expect(await failure(client.call('echo'))).toMatchObject({ kind: 'bad_answer' })
  expect(asked).toBe(0)
})

test('C.server-requests a server that asks and takes no answer does not fill the memory', async () => {
  const { client } = await meet(
    'stdio',
    ({ method }, wire) => {
      if (method !== 'tools/call') return false
      for (let times = 0; times < 50_000; times++)
        wire.send({ jsonrpc: '2.0', id: `q${times}`, method: 'ping' })
      wire.reply(text('done'))
      return undefined
    },
    { speaks: EARLIER, timeout: '15s' },
  )
  const before = heldHeap()
  expect(await client.call('echo')).toBe('done')
  expect(heldHeap() - before).toBeLessThan(200_000_000)
})

test('C.server-requests open questions take memory up to a limit, whatever their number', async () => {
  let asked = 0
  const answers: Answers = {
    elicit: (_, signal) => {
      asked++
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ action: 'cancel' })))
    },
  }
  const { client } = await meet(
    'memory',
    ({ method }, wire) => {
      if (method !== 'tools/call') return false
      const params = { ...FORM, message: 'x'.repeat(4_000_000) }
      for (let id = 0; id < 40; id++)
        wire.send({ jsonrpc: '2.0', id: `q${id}`, method: 'elicitation/create', params })
      return wire.reply(text('done'))
    },
    { speaks: EARLIER, answers },
  )
  expect(await client.call('echo')).toBe('done')
  await until(() => asked >= 16)
  for (let times = 0; times < 20; times++) await client.ping()
  // 64 MiB hold 16 of them.
  expect(asked).toBe(16)
})
