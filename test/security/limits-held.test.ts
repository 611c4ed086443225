import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { open } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import { carries, TRANSPORTS, type AnyApp } from '../harness/connection.ts'
import { processorMs } from '../harness/processor.ts'
import { frame } from '../ws/raw.ts'
import { open as openWs, start as startWs } from '../ws/server.ts'

afterAll(() => closeListeners())

const KINDS = TRANSPORTS.flatMap((transport) =>
  REVISIONS.filter((revision) => carries(transport, revision)).map(
    (revision) => [transport, revision] as const,
  ),
)
const WITH_SESSION = KINDS.filter(([, revision]) => revision !== '2026-07-28')

const LONG = 'x'.repeat(1000)
const uriOf = (name: number): string => `file:///${name}/${LONG}`
const LIMIT = 18_000
const FULL = {
  code: 1089,
  message: `the server has no room to keep this: all clients share ${LIMIT} bytes, and one gets at most a quarter of what the others leave`,
}

const files = (heldBytes = LIMIT): AnyApp =>
  createServer({ name: 'files', version: '1', limits: { heldBytes }, log: () => undefined }).resource(
    'file:///{+path}',
    {},
    () => 'x',
  ) as AnyApp

const saying = (text: string): JsonObject => ({ experimental: { padding: { text } } })

test.each(WITH_SESSION)(
  'limits.heldBytes the URIs of all sessions together have a size, and each gives back what it took, over %s at %s',
  async (transport, revision) => {
    const app = files()
    const [one, other] = [await open(app, { transport, revision }), await open(app, { transport, revision })]
    await one.follow({ uris: [1, 2, 3].map(uriOf) })
    // The more one client has taken, the less is left for another.
    await other.follow({ uris: [1, 2].map(uriOf) })
    for (const client of [one, other])
      await expect(client.request('resources/subscribe', { uri: uriOf(9) })).rejects.toMatchObject(FULL)
    // What is watched already takes no further room.
    await one.request('resources/subscribe', { uri: uriOf(1) })
    await one.request('resources/unsubscribe', { uri: uriOf(2) })
    await one.request('resources/unsubscribe', { uri: uriOf(2) })
    await other.request('resources/subscribe', { uri: uriOf(9) })
    const short = { uri: 'file:///short' }
    await expect(other.request('resources/subscribe', short)).rejects.toMatchObject(FULL)
    expect(app.counts.get('too_much_held')).toBe(3)
    await one.close()
    const subscribed = (): Promise<boolean> =>
      other.request('resources/subscribe', short).then(
        () => true,
        () => false,
      )
    await expect.poll(subscribed).toBe(true)
    await other.close()
  },
)

test.each(TRANSPORTS.filter((transport) => carries(transport, '2026-07-28')))(
  'limits.heldBytes the URIs of all streams together have a size, and each gives back what it took, over %s',
  async (transport) => {
    const client = await open(files(), { transport, revision: '2026-07-28' })
    const listen = async (...names: readonly number[]): Promise<unknown> => {
      const id = client.nextId()
      const notifications = { resourceSubscriptions: names.map(uriOf) }
      const ended = client.request('subscriptions/listen', { notifications }, { id })
      const begun = client.until(() => client.acknowledged(id) !== undefined).then(() => 'begun')
      return Promise.race([begun, ended.catch((error: unknown) => error)])
    }
    // The same URI several times is kept once.
    expect(await listen(1, 1, 1, 1, 1)).toBe('begun')
    const stop = await client.follow({ uris: [2, 3].map(uriOf) })
    expect(await listen(4, 5, 6)).toMatchObject(FULL)
    stop()
    await expect.poll(() => listen(4, 5)).toBe('begun')
    expect(await listen(6, 7, 8)).toMatchObject(FULL)
    await client.close()
  },
)

test.each(WITH_SESSION)(
  'limits.heldBytes what clients say about themselves counts until they go, over %s at %s',
  async (transport, revision) => {
    const app = files()
    const capabilities = saying('x'.repeat(3300))
    const one = await open(app, { transport, revision, capabilities })
    await expect(open(app, { transport, revision, capabilities })).rejects.toMatchObject(FULL)
    await one.close()
    await expect
      .poll(() =>
        open(app, { transport, revision, capabilities }).then(
          (client) => client.close().then(() => 'open'),
          () => 'full',
        ),
      )
      .toBe('open')
  },
)

test.each(WITH_SESSION)(
  'a client that says too much about itself gets no session, over %s at %s',
  async (transport, revision) => {
    const app = files(1e9)
    const full = (method: string): object => ({
      code: -32602,
      message: `invalid params for ${method}: clientInfo and capabilities take more than 65536 bytes of memory; leave out what the server does not need`,
    })
    for (const text of ['x'.repeat(65_000), `€${'x'.repeat(33_000)}`])
      await expect(open(app, { transport, revision, capabilities: saying(text) })).rejects.toMatchObject(
        full('initialize'),
      )
    const clientInfo = { name: 'x', version: '1', icons: Array.from({ length: 1100 }, () => ({})) }
    await expect(open(app, { transport, revision, clientInfo })).rejects.toMatchObject(full('initialize'))
    await (await open(app, { transport, revision, capabilities: saying('x'.repeat(64_000)) })).close()
  },
)

test('a client that says too much about itself cannot listen', async () => {
  const capabilities = saying('x'.repeat(65_000))
  const client = await open(files(1e9), { transport: 'http', revision: '2026-07-28', capabilities })
  const params = { notifications: { toolsListChanged: true } }
  await expect(client.request('subscriptions/listen', params)).rejects.toMatchObject({ code: -32602 })
  await client.close()
})

test('limits.heldBytes a client that takes all it can get leaves enough for others', async () => {
  const app = files(200_000)
  const where = { transport: 'http', revision: '2025-11-25' } as const
  const clients = []
  for (let size = 60_000; size >= 1; size /= 2) {
    const capabilities = saying('x'.repeat(size))
    const client = await open(app, { ...where, capabilities }).catch(() => undefined)
    if (client === undefined) continue
    clients.push(client)
    size *= 2
  }
  const victim = await open(app, where)
  expect(clients.length).toBeGreaterThan(5)
  for (const client of [...clients, victim]) await client.close()
})

const INIT = { transport: 'http', revision: '2025-11-25' } as const

test.each(TRANSPORTS.filter((transport) => transport !== 'memory' && transport !== 'stdio'))(
  'limits.heldBytes sessions that were opened to fill the server make room for others, over %s',
  async (transport) => {
    const app = files(40_000)
    const where = { transport, revision: '2025-11-25' } as const
    const capabilities = { experimental: { a: Array.from({ length: 950 }, () => []) } }
    const clients = []
    for (let each = 0; each < 30; each++)
      clients.push(await open(app, { ...where, capabilities }).catch(() => undefined))
    // With what subscriptions take, one session after another gets a quarter of the rest.
    for (const client of clients)
      for (let name = 0; name < 8; name++)
        await client?.request('resources/subscribe', { uri: uriOf(name) }).catch(() => undefined)
    const victims = []
    for (let each = 0; each < 5; each++)
      victims.push(await open(app, { ...where, capabilities: { roots: {}, sampling: {}, elicitation: {} } }))
    for (const victim of victims) await victim.request('resources/subscribe', { uri: 'file:///a' })
    expect(app.counts.get('session_evicted')).toBeGreaterThan(0)
    for (const client of [...clients, ...victims]) await client?.close().catch(() => undefined)
  },
)

test.each(['http', 'memory'] as const)(
  'limits.heldBytes streams that were opened to fill the server make room for others, over %s',
  async (transport) => {
    const app = files(100_000)
    const where = { transport, revision: '2026-07-28' } as const
    const clients = []
    for (let uris = 20; uris >= 1; uris = Math.floor(uris / 2)) {
      const watching = { uris: Array.from({ length: uris }, (_, name) => uriOf(name)) }
      for (let isFull = false; !isFull;) {
        const client = await open(app, where)
        clients.push(client)
        const listens = client.request('subscriptions/listen', {
          notifications: { resourceSubscriptions: watching.uris },
        })
        const refused = listens.then(
          () => false,
          () => true,
        )
        isFull = await Promise.race([
          refused,
          client.until(() => client.acknowledged(1) !== undefined).then(() => false),
        ])
      }
    }
    const victim = await open(app, where)
    await victim.follow({ uris: ['file:///a'] })
    expect(app.counts.get('too_much_held')).toBe(5)
    for (const client of [...clients, victim]) await client.close()
  },
)

test.each([
  ['connected', 1013],
  ['lost', undefined],
] as const)(
  'limits.heldBytes a session over ws that could be resumed makes room for others while its client is %s',
  async (how, code) => {
    const app = files(40_000)
    const { port } = await startWs(app)
    const text = (id: number, method: string, params: object): Buffer =>
      frame(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const handshake = { protocolVersion: '2025-11-25', clientInfo: { name: 'x', version: '1' } }
    const large = await openWs(port, { 'last-event-id': '0' })
    const subscriptions = Array.from({ length: 8 }, (_, name) =>
      text(name + 2, 'resources/subscribe', { uri: uriOf(name) }),
    )
    large.write(text(1, 'initialize', { ...handshake, capabilities: {} }), ...subscriptions)
    await large.until(() => large.texts.length === 9)
    if (how === 'lost') {
      large.socket.destroy()
      await large.closed
    }
    for (let each = 0; each < 60 && app.counts.get('session_evicted') === undefined; each++) {
      const other = await openWs(port)
      other.write(text(1, 'initialize', { ...handshake, capabilities: saying('x'.repeat(1000)) }))
      await other.until(() => other.texts.length === 1)
      expect(other.texts[0]).toContain('"result"')
    }
    expect(app.counts.get('session_evicted')).toBe(1)
    expect(await large.closeCode()).toBe(code)
    const [, id] = /^mcp-session-id: (.*)$/im.exec(large.head) as unknown as [string, string]
    const again = await openWs(port, { 'last-event-id': '9', 'mcp-session-id': id })
    expect(again.head).toMatch(/^mcp-session-id: /im)
    expect(again.head).not.toContain(id)
  },
)

test('limits.heldBytes a session that takes much does not push others out', async () => {
  const app = files(100_000)
  const quiet = await open(app, INIT)
  await quiet.request('resources/subscribe', { uri: uriOf(1) })
  const greedy = await open(app, INIT)
  for (let name = 0; name < 50; name++)
    await greedy.request('resources/subscribe', { uri: uriOf(name) }).catch(() => undefined)
  expect(app.counts.get('too_much_held')).toBeGreaterThan(0)
  expect(app.counts.get('session_evicted')).toBeUndefined()
  await quiet.request('resources/subscribe', { uri: uriOf(2) })
  for (const client of [quiet, greedy]) await client.close()
})

test.each(WITH_SESSION)(
  'of what a client says about itself, the server keeps what is small, over %s at %s',
  async (transport, revision) => {
    const app = createServer({ name: 'who', version: '1', log: () => undefined })
    app.tool('who', {}, (_, { client: { info, capabilities } }) => JSON.stringify({ info, capabilities }))
    const small = { roots: { listChanged: true }, sampling: {}, elicitation: {} }
    const capabilities = {
      experimental: {
        features: ['x'.repeat(5000)],
        'com.example/one': { text: 'x'.repeat(20_000), on: true },
      },
      ...small,
    }
    const clientInfo = {
      name: 'n'.repeat(9000),
      version: '1',
      title: 'T',
      icons: [{ src: 'x'.repeat(9000) }],
    }
    const client = await open(app as AnyApp, { transport, revision, capabilities, clientInfo })
    const reply = (await client.call('who')) as { readonly content: readonly [{ readonly text: string }] }
    expect(JSON.parse(reply.content[0].text)).toEqual({
      info: { name: 'n'.repeat(200), version: '1', title: 'T' },
      capabilities: { experimental: { 'com.example/one': { on: true } }, ...small },
    })
    await client.close()
  },
)

test('M.uri-redos no request keeps the server busy with matching, however many URIs and templates there are', async () => {
  let app = createServer({ name: 'templates', version: '1' })
  for (let each = 0; each < 100; each++)
    app = app.resource(`a://{+a}/${each % 10}{+b}/{c${each}}!`, {}, () => 'x')
  const client = await open(app as AnyApp, { transport: 'memory', revision: '2026-07-28' })
  const start = `a://${Array.from({ length: 10 }, (_, at) => `/${at}`).join('')}`
  const uri = (name: number): string => `${start}${name}${'/b'.repeat(4000)}/!`
  const costly = { code: -32602, message: 'matching this URI against 100 templates takes too long' }
  const uris = Array.from({ length: 1000 }, (_, name) => uri(name))
  const ms = await processorMs(async () => {
    await expect(client.request('resources/read', { uri: uri(1) })).rejects.toMatchObject(costly)
    const listen = client.request('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
    await expect(listen).rejects.toMatchObject(costly)
  })
  expect(ms).toBeLessThan(4000)
  expect(app.counts.get('uri_too_costly')).toBe(2)
  await client.close()
})

test.each(['', ' ', '%'])(
  'M.uri-redos many long URIs that no template matches are not all read, with %o at their end',
  async (end) => {
    const client = await open(files(1e9), { transport: 'memory', revision: '2026-07-28' })
    const listen = (count: number, length: number): Promise<unknown> => {
      const uris = Array.from({ length: count }, (_, name) => `x://${name}${'a'.repeat(length)}${end}`)
      return client.request('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
    }
    await expect(listen(1000, 8150)).rejects.toThrow(/takes too long/)
    await expect(listen(1000, 1000)).resolves.toMatchObject({ resultType: 'complete' })
    await client.close()
  },
)

test.each(WITH_SESSION)(
  'limits.heldBytes the values in sessions count too, and a session that ends gives them back, over %s at %s',
  async (transport, revision) => {
    const value = {
      type: 'object',
      properties: { letters: { type: 'number' } },
      required: ['letters'],
    } as const
    const app = createServer({
      name: 'keeps',
      version: '1',
      limits: { heldBytes: LIMIT },
      log: () => undefined,
    })
    app.tool('keep', { input: value }, async ({ letters }, { session }) => {
      await session?.set('text', 'x'.repeat(letters))
      return 'kept'
    })
    const join = (): ReturnType<typeof open> => open(app as AnyApp, { transport, revision })
    const [one, other] = [await join(), await join()]
    await one.call('keep', { letters: 3900 })
    await expect(other.call('keep', { letters: 3900 })).rejects.toMatchObject(FULL)
    await other.call('keep', { letters: 10 })
    await one.close()
    const kept = (): Promise<boolean> =>
      other.call('keep', { letters: 3900 }).then(
        () => true,
        () => false,
      )
    await expect.poll(kept).toBe(true)
    await other.close()
  },
)

test('limits.sessionBytes a session keeps so much, and not a byte more', async () => {
  const app = createServer({ name: 'keeps', version: '1', limits: { sessionBytes: 1000 } })
  const failures: unknown[] = []
  app.tool(
    'keep',
    { input: { type: 'object', properties: { letters: { type: 'integer' } } } },
    async (input, ctx) => {
      const { letters = 0 } = input as { readonly letters?: number }
      await ctx.session
        ?.set('text', 'x'.repeat(letters))
        .catch((error: { kind: string }) => failures.push(error.kind))
      return `${String(await ctx.session?.get('text'))}`.length
    },
  )
  const client = await open(app as AnyApp, { transport: 'memory', revision: '2025-11-25' })
  let letters = 0
  while (failures.length === 0) await client.call('keep', { letters: ++letters })
  expect(failures).toEqual(['session_too_large'])
  expect(letters).toBeGreaterThan(700)
  expect(letters).toBeLessThanOrEqual(1000)
  await client.close()
})

test('limits.listed a template lists so many resources, and not one more', async () => {
  const app = createServer({ name: 'lists', version: '1', limits: { listed: 3 }, log: () => undefined })
  const ids = ['1', '2', '3', '4']
  app.resource('n://{id}', { list: () => ids.map((id) => ({ variables: { id } })) }, ({ id }) => id)
  const client = await open(app as AnyApp, { transport: 'memory', revision: '2025-11-25' })
  const { resources } = (await client.get('resources/list', {})) as { readonly resources: readonly unknown[] }
  expect(resources).toHaveLength(3)
  ids.pop()
  expect(await client.get('resources/list', {})).toMatchObject({ resources: [{}, {}, {}] })
  await client.close()
})
