import { expect, test } from 'vitest'
import { createServer, McpError, type Context } from '../../src/index.ts'
import {
  apps,
  defineExtension,
  health,
  subscriptions,
  toolCompletion,
  toolStream,
} from '../../src/extensions.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { declare, declaredBy, joinWith } from './declare.ts'

const tides = defineExtension({
  id: 'com.example/tides',
  settings: { unit: 'm' },
  methods: {
    next: {
      params: {
        type: 'object',
        properties: { harbour: { type: 'string', maxLength: 20 }, count: { type: 'integer', maximum: 9 } },
        required: ['harbour'],
        additionalProperties: false,
      },
    },
    nothing: {},
    ask: {},
    breaks: {},
    refuses: {},
  },
  notices: ['turned'],
  serve: (options: { readonly high?: number } | undefined, host) => ({
    next: ({ harbour, count = 1 }) => ({ harbour, high: (options?.high ?? 3) * count }),
    nothing: () => host.notify('turned', { at: 4 }),
    ask: async (_params, context) => {
      const schema = { type: 'object', properties: { ship: { type: 'string' } } } as const
      const answer = await context.elicit('Which ship?', schema)
      return { ship: answer.content?.ship, tenant: (context as Context & { tenant?: string }).tenant }
    },
    breaks: () => {
      throw new Error('the secret of the harbour')
    },
    refuses: () => {
      throw new McpError('bad_params', 'no such harbour')
    },
  }),
})

const ID = 'com.example/tides'

function createHarbour() {
  return createServer({ name: 'tides', version: '1', log: () => undefined })
    .provide(() => ({ tenant: 'north' }))
    .extend(tides({ high: 5 }))
}

scenario(
  'an extension is declared under its id, and nothing else changes [S2-15-10] [S2-13-S2]',
  () => createHarbour(),
  async (client, revision) => {
    const declared = { [ID]: { unit: 'm' } }
    const place = revision === '2026-07-28' ? { extensions: declared } : { experimental: declared }
    expect(await declaredBy(client)).toEqual({ logging: {}, ...place })
  },
  { profiles: false },
)

scenario(
  'every extension of ours is declared only by keys under our id, so that others see an ordinary server [S2-15-10]',
  () =>
    createServer({ name: 'all', version: '1' })
      .tool('one', {}, () => 1)
      .extend(health)
      .extend(apps)
      .extend(subscriptions)
      .extend(toolStream)
      .extend(toolCompletion),
  async (client, revision) => {
    const { experimental, extensions, ...rest } = await declaredBy(client)
    expect(rest).toEqual({ tools: { listChanged: true }, logging: {} })
    const [own, other] = revision === '2026-07-28' ? [extensions, experimental] : [experimental, extensions]
    expect(own).toEqual({
      'dev.pierhead/health': {},
      'dev.pierhead/apps': { listChanged: true },
      'dev.pierhead/subscriptions': {},
      'dev.pierhead/tools': {},
      'dev.pierhead/completion': {},
    })
    expect(other).toBeUndefined()
    expect(await client.call('one')).toEqual({ content: [{ type: 'text', text: '1' }], isError: false })
    expect(await client.get('tools/list')).toMatchObject({ tools: [{ name: 'one' }] })
  },
  { profiles: false },
)

scenario(
  'a method of an extension does not exist for a client that did not declare it, which is told what to declare [S2-15-10]',
  () => createHarbour(),
  async (client, revision) => {
    const place = revision === '2026-07-28' ? 'extensions' : 'experimental'
    const error = await refusal(client.request(`${ID}/next`, { harbour: 'x' }))
    expect(error.code).toBe(-32601)
    expect(error.message).toContain(`declare capabilities.${place}["${ID}"]`)
    expect(error.data).toMatchObject({ requiredCapabilities: { [place]: { [ID]: {} } } })
  },
)

scenario(
  'a client that declared an extension uses it, with the params that it takes [S2-15-10]',
  () => createHarbour(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    expect(await client.get(`${ID}/next`, { harbour: 'x', count: 2 })).toEqual({ harbour: 'x', high: 10 })
    expect(await client.get(`${ID}/nothing`, { any: 'thing' })).toEqual({})
    const hostile = [
      {},
      { harbour: 3 },
      { harbour: 'x'.repeat(21) },
      { harbour: 'x', count: 1e300 },
      { harbour: 'x', more: true },
      { harbour: ['x'] },
      { harbour: null },
    ]
    for (const params of hostile) {
      const error = await refusal(client.request(`${ID}/next`, params))
      expect([error.code, error.message]).toEqual([
        -32602,
        expect.stringContaining(`invalid params for ${ID}/next`),
      ])
    }
    expect((await refusal(client.request(`${ID}/other`))).code).toBe(-32601)
    expect((await refusal(client.request(ID))).code).toBe(-32601)
  },
)

scenario(
  'what a method throws is masked, unless it is thrown for the client',
  () => createHarbour(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const broken = await refusal(client.request(`${ID}/breaks`))
    expect(broken.code).toBe(-32603)
    expect(JSON.stringify(broken)).not.toContain('secret')
    expect((await refusal(client.request(`${ID}/refuses`))).message).toBe('no such harbour')
  },
)

scenario(
  'a declaration that is no object counts as none',
  () => createHarbour(),
  async (_official, revision, stage) => {
    const hostile: readonly unknown[] = [null, [], 'x', 1, [ID], { [ID]: null }, { [ID]: true }, { [ID]: [] }]
    for (const declared of hostile) {
      const capabilities = { extensions: declared, experimental: declared }
      const client = await stage.join({ capabilities }).catch(() => undefined)
      if (client === undefined) continue
      expect((await refusal(client.request(`${ID}/next`, { harbour: 'x' }))).code).toBe(-32601)
      // Such a client breaks the schema on purpose.
      client.transcript.length = 0
    }
    const own = JSON.parse(`{"__proto__":{"${ID}":{}}}`) as object
    const client = await stage.join({ capabilities: { experimental: own, extensions: own } })
    expect((await refusal(client.request(`${ID}/next`, { harbour: 'x' }))).code).toBe(-32601)
  },
)

scenario(
  'a method of an extension asks the user, and sees what the server provides',
  () => createHarbour(),
  async (_official, revision, stage) => {
    const capabilities = { ...declare(revision, ID), elicitation: { form: {} } }
    const client = await stage.join({ capabilities })
    client.answer('elicitation/create', () => ({ action: 'accept', content: { ship: 'Gull' } }))
    expect(await client.get(`${ID}/ask`)).toEqual({ ship: 'Gull', tenant: 'north' })
  },
  { since: '2025-06-18' },
)

scenario(
  'middleware wraps methods of extensions, by their name too',
  () =>
    createHarbour()
      .use(async (context, next) => ({ ...(await next()), all: context.method }))
      .use(`${ID}/next`, async (_context, next) => ({ ...(await next()), own: true })),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    expect(await client.get(`${ID}/next`, { harbour: 'x' })).toMatchObject({ all: `${ID}/next`, own: true })
  },
)

scenario(
  'a notice of an extension is told to those who declared it, and at the newest revision asked for it',
  () => createHarbour(),
  async (official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const notice = `notifications/${ID}/turned`
    await official.follow({ lists: ['tools'] })
    if (client.hasSession) await client.follow({})
    else {
      const id = client.nextId()
      const stop = new AbortController()
      const options = { id, signal: stop.signal }
      client
        .request('subscriptions/listen', { notifications: { [ID]: true, 'com.example/x': true } }, options)
        .catch(() => undefined)
      await client.until(() => client.acknowledged(id) !== undefined)
      expect(client.acknowledged(id)).toMatchObject({ notifications: { [ID]: true } })
      expect(Object.keys(client.acknowledged(id)?.['notifications'] as object)).toEqual([ID])
    }
    await client.request(`${ID}/nothing`)
    expect(await client.hear(notice)).toMatchObject([{ at: 4 }])
    await official.settle()
    expect(official.heard(notice)).toEqual([])
  },
)

test('an invalid extension is rejected, and the error says what to do', () => {
  const app = createServer({ name: 'x', version: '1' })
  expect(() => app.extend({} as never)).toThrow('extend: pass an extension from defineExtension')
  expect(() => app.extend(tides).extend(tides)).toThrow('it was already added to this server')
  const remote = defineExtension({ id: 'com.example/far', methods: { go: {} } })
  expect(() => app.extend(remote)).toThrow('it has no serve function, so only clients can use it')
  const half = defineExtension({ id: 'com.example/half', methods: { go: {} }, serve: () => ({}) as never })
  expect(() => app.extend(half)).toThrow('serve returns no handler for "go"')
  const wrong = defineExtension({
    id: 'com.example/wrong',
    methods: { go: { params: { type: 'nothing' } } },
    serve: () => ({ go: () => undefined }),
  })
  expect(() => app.extend(wrong)).toThrow('extension "com.example/wrong", go')
  for (const id of [
    'tides',
    'tides/x',
    'com.example',
    'io.modelcontextprotocol/x',
    'com..example/x',
    'a.b/',
    4,
  ])
    expect(() => defineExtension({ id: id as string })).toThrow('defineExtension')
  expect(() => defineExtension({ id: 'a.b/c', methods: { 'x/y': {} } })).toThrow('is not a valid name')
  expect(() => defineExtension({ id: 'a.b/c', notices: [''] })).toThrow('is not a valid name')
  expect(() => defineExtension({ id: 'a.b/c', method: {} } as never)).toThrow('did you mean "methods"')
})

test('an extension can send only the notices that it declared', () => {
  let tell: (name: string) => void = () => undefined
  const quiet = defineExtension({
    id: 'com.example/quiet',
    serve: (_options: undefined, host) => {
      tell = (name) => host.notify(name)
    },
  })
  createServer({ name: 'x', version: '1' }).extend(quiet)
  expect(() => tell('turned')).toThrow('"turned" is not one of its notices')
})
