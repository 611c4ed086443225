import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, type Change, type Client } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { NOTE } from './app.ts'
import { all, firstChange } from './gather.ts'
import { scenario } from './scenario.ts'
import { scripted } from './scripted.ts'

scenario('changes of lists are told to whoever watches them [S2-13-C5]', async (_, { join }) => {
  const client = await join()
  for (const kind of ['tools', 'prompts', 'resources'] as const)
    expect(await firstChange(client, { [kind]: true }, () => client.call('grow'))).toEqual({ kind })
})

scenario(
  'changes of a resource are told to whoever watches it, and to nobody else [S2-13-C5]',
  async (_, { join }) => {
    const client = await join()
    const change = await firstChange(client, { resources: [NOTE] }, () => client.call('touch'))
    expect(change).toEqual({ kind: 'resource', uri: NOTE })
  },
)

scenario(
  'a listener hears of a resource from when it subscribed until it ends that [S2-13-C6]',
  async (_, { join }) => {
    const client = await join()
    let heard: (change: Change) => void = () => undefined
    let told = 0
    const end = await client.subscribe(NOTE, (change) => {
      told++
      heard(change)
    })
    const first = new Promise<Change>((resolve) => (heard = resolve))
    await client.call('touch')
    expect(await first).toEqual({ kind: 'resource', uri: NOTE })
    await end()
    await client.call('touch')
    await client.ping()
    expect(told).toBe(1)
  },
)

scenario(
  'what the server allows to keep is kept, for each resource and list by itself [R232] [R235]',
  async (_, { join }) => {
    const client = await join()
    // Each reading by the server gives another text.
    const first = await client.read(NOTE)
    expect(await client.read(NOTE)).toEqual(first)
    expect(await client.read('city://Rome')).not.toEqual(first)
    expect(await client.read(NOTE, { headers: { 'x-tenant': 'another' } })).not.toEqual(first)
    expect(await client.read(NOTE, { meta: { 'example.com/tenant': 'another' } })).not.toEqual(first)
    expect(await client.read(NOTE)).toEqual(first)
  },
  { since: '2026-07-28' },
)

test('every page of a list that may be kept is asked for once, also by middleware [R232]', async () => {
  const asked: unknown[] = []
  const server = scripted('2026-07-28', ({ method, params }, peer) => {
    if (method !== 'tools/list') return false
    asked.push(params?.['cursor'])
    const more = params?.['cursor'] === undefined ? { nextCursor: 'b' } : {}
    peer.reply({ resultType: 'complete', tools: [], ttlMs: 60_000, cacheScope: 'private', ...more })
    return true
  })
  await using client = await connect(server)
  client.use((_, next) => next())
  await all(client.tools())
  await all(client.tools())
  expect(asked).toEqual([undefined, 'b'])
})

scenario(
  'a notice forgets what was kept [R235]',
  async (_, { join }) => {
    const client = await join()
    const first = await client.read(NOTE)
    await firstChange(client, { resources: [NOTE] }, () => client.call('touch'))
    const second = await client.read(NOTE)
    expect(second).not.toEqual(first)
    const before = (await all(client.tools())).length
    await firstChange(client, { tools: true }, () => client.call('grow'))
    expect((await all(client.tools())).length).toBeGreaterThan(before)
  },
  { since: '2026-07-28' },
)

scenario(
  'nothing is kept where the revision has no word for it [R235]',
  async (client) => {
    const [first] = (await client.read(NOTE)).contents
    const [second] = (await client.read(NOTE)).contents
    expect(first).not.toEqual(second)
  },
  { until: '2025-11-25' },
)

test.each([
  ['tools/list', 'notifications/tools/list_changed', {}],
  ['resources/read', 'notifications/resources/updated', { uri: 'a://b' }],
] as const)('an answer to %s that a change overtook is not kept', async (asked, changed, params) => {
  let version = 0
  const server = scripted('2026-07-28', ({ method }, peer) => {
    if (method !== asked) return false
    version++
    // The server found the answer before the change, which arrives first.
    if (version === 1) peer.send({ method: changed, params })
    const tools = [{ name: `v${version}`, inputSchema: { type: 'object' } }]
    const contents = [{ uri: 'a://b', text: `v${version}` }]
    peer.reply({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'private',
      ...(asked === 'tools/list' ? { tools } : { contents }),
    })
    return true
  })
  await using client = await connect(server)
  const read = async (): Promise<unknown> =>
    asked === 'tools/list' ? (await all(client.tools()))[0]?.name : (await client.read('a://b')).contents[0]
  const shown = (text: string): unknown => (asked === 'tools/list' ? text : { uri: 'a://b', text })
  expect(await read()).toEqual(shown('v1'))
  expect(await read()).toEqual(shown('v2'))
  expect(await read()).toEqual(shown('v2'))
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'provide runs for subscriptions: whom it rejects may not subscribe, and visible sees what it adds, at %s',
  async (revision) => {
    const app = createServer({ name: 'provides', version: '1', log: () => undefined })
      .provide(({ header }) => {
        const user = header?.('x-user')
        if (user === undefined) throw new Error('nobody')
        return { user: { name: user } }
      })
      .resource('n://1', { visible: ({ user }) => user.name === 'ada' }, () => 'one')
      .resource('n://2', {}, () => 'two')
    const { url, close } = await app.listen({ http: { port: 0 } })
    onTestFinished(close)
    const as = (name: string): Promise<Client> =>
      connect(url as string, { revision, headers: name === '' ? {} : { 'x-user': name } })
    const [ada, bob, nobody] = await Promise.all(['ada', 'bob', ''].map(as))
    const heard = new Promise<Change>((resolve) => void ada?.subscribe('n://1', resolve))
    await expect(bob?.subscribe('n://1', () => undefined)).rejects.toMatchObject({ kind: 'unknown_resource' })
    await expect(nobody?.subscribe('n://2', () => undefined)).rejects.toMatchObject({ kind: 'remote' })
    const touch = setInterval(() => app.updated('n://1'), 20)
    onTestFinished(() => clearInterval(touch))
    expect(await heard).toEqual({ kind: 'resource', uri: 'n://1' })
    await Promise.all([ada?.close(), bob?.close(), nobody?.close()])
  },
)

test.each([
  [-32601, 'unknown_method'],
  [-32602, 'bad_params'],
] as const)('subscribe and watch fail if the server rejects listening with %s', async (code, kind) => {
  const server = scripted('2026-07-28', ({ method }, peer) => {
    if (method !== 'subscriptions/listen') return false
    peer.refuse(code, 'no')
    return true
  })
  await using client = await connect(server)
  await expect(client.subscribe('a://b', () => undefined)).rejects.toMatchObject({ kind })
  await expect(all(client.watch({ tools: true }))).rejects.toMatchObject({ kind })
  const { signal } = new AbortController()
  await expect(all(client.watch({ resources: ['a://b'], signal }))).rejects.toMatchObject({ kind })
})

scenario('nothing that changes after watching has begun is missed', async (_, { join }) => {
  const client = await join()
  const stop = new AbortController()
  let ready = 0
  const changes: Change[] = []
  const watched = { tools: true, resources: [NOTE], signal: stop.signal }
  await new Promise<void>((resolve, reject) => {
    const onReady = (): void => {
      ready++
      Promise.all([client.call('grow'), client.call('touch')]).catch(reject)
    }
    const read = async (): Promise<void> => {
      for await (const change of client.watch({ ...watched, onReady })) {
        changes.push(change)
        if (changes.length === 2) stop.abort()
      }
    }
    read().then(resolve, reject)
  })
  expect(changes.toSorted((one, other) => (one.kind < other.kind ? -1 : 1))).toEqual([
    { kind: 'resource', uri: NOTE },
    { kind: 'tools' },
  ])
  expect(ready).toBe(1)
})

test('a change of a list that arrives just after watch began is not lost', async () => {
  vi.resetModules()
  const { connect } = await import('../../src/client.ts')
  const server = scripted('2025-11-25', () => false)
  await using client = await connect(server)
  const changes = client.watch({ tools: true })
  const first = changes.next()
  server.say({ method: 'notifications/tools/list_changed' })
  server.say({ method: 'notifications/prompts/list_changed' })
  expect((await first).value).toEqual({ kind: 'tools' })
  await changes.return()
})
