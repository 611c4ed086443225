import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { apps, Apps } from '../../src/extensions.ts'
import { testClient } from '../../src/testing.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'
import { declaredBy, joinWith } from './declare.ts'

const ID = 'dev.pierhead/apps'
const CHANGED = `notifications/${ID}/list_changed`

function createWithApps() {
  return createServer({ name: 'apps', version: '1' })
    .tool('report', {}, () => 'reported')
    .tool('other', {}, () => 'done')
    .extend(
      apps([
        { name: 'reports', title: 'Reports', version: '2', tools: ['report', 'later'] },
        { name: 'bare' },
      ]),
    )
    .tool('later', {}, () => 'too')
}

async function toolsOf(client: Client): Promise<readonly string[]> {
  const { tools } = await client.request('tools/list')
  return (tools as readonly { readonly name: string }[]).map(({ name }) => name)
}

scenario(
  'an app is registered, started and stopped, and its tools are there while it runs [S2-9.4-5]',
  () => createWithApps(),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const app = { name: 'reports', title: 'Reports', version: '2', tools: ['report', 'later'] }
    expect(await client.get(`${ID}/list`)).toEqual({
      apps: [
        { ...app, state: 'registered' },
        { name: 'bare', state: 'registered' },
      ],
    })
    expect(await toolsOf(client)).toEqual(['other'])
    expect((await refusal(client.call('report'))).message).toContain('tool "report" does not exist')
    expect(await client.get(`${ID}/start`, { name: 'reports' })).toEqual({
      app: { ...app, state: 'running' },
    })
    expect(await toolsOf(client)).toEqual(['report', 'other', 'later'])
    expect(await client.call('report')).toMatchObject({ isError: false })
    expect(await client.get(`${ID}/stop`, { name: 'reports' })).toEqual({ app: { ...app, state: 'stopped' } })
    expect(await client.get(`${ID}/get`, { name: 'reports' })).toEqual({ app: { ...app, state: 'stopped' } })
    expect(await toolsOf(client)).toEqual(['other'])
  },
)

scenario(
  'whoever declared apps hears that their list changed, and everybody that the tools did [S2-9.4-5]',
  () => createWithApps(),
  async (official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const place = revision === '2026-07-28' ? 'extensions' : 'experimental'
    expect((await declaredBy(client))[place]).toEqual({ [ID]: { listChanged: true } })
    await official.follow({ lists: ['tools'] })
    if (client.hasSession) await client.follow({})
    else {
      const id = client.nextId()
      client.request('subscriptions/listen', { notifications: { [ID]: true } }, { id }).catch(() => undefined)
      await client.until(() => client.acknowledged(id) !== undefined)
    }
    await client.request(`${ID}/start`, { name: 'reports' })
    await client.hear(CHANGED)
    await official.hear('notifications/tools/list_changed')
    expect(official.heard(CHANGED)).toEqual([])
  },
)

scenario(
  'clients register apps only where the server lets them, and never take tools away by it [S2-9.4-5]',
  () =>
    createServer({ name: 'open', version: '1' })
      .tool('report', {}, () => 'reported')
      .extend(apps(new Apps([], { limit: 2, allow: (_action, app) => app.name !== 'forbidden' }))),
  async (_official, revision, stage) => {
    const client = await joinWith(stage, revision, ID)
    const facts = { name: 'mine', description: 'of a client', tools: ['report'] }
    expect(await client.get(`${ID}/register`, facts)).toEqual({ app: { ...facts, state: 'registered' } })
    expect(await client.call('report')).toMatchObject({ isError: false })
    expect(await client.get(`${ID}/start`, { name: 'mine' })).toMatchObject({ app: { state: 'running' } })
    const wrong: readonly (readonly [string, object, string])[] = [
      ['register', facts, 'the app "mine" is already registered'],
      ['register', { name: 'forbidden' }, 'this server does not let clients register the app "forbidden"'],
      ['register', { name: '../x' }, 'the name of an app must have 1 to 128'],
      ['register', { name: 'x'.repeat(129) }, 'name'],
      ['register', { name: '' }, 'name'],
      ['register', { name: 'x', start: 'now' }, 'start'],
      ['register', { name: 'x', tools: 'report' }, 'tools'],
      ['register', { name: 'x', tools: Array.from({ length: 257 }, () => 'x') }, 'tools'],
      ['register', { name: 'x', description: 'x'.repeat(2049) }, 'description'],
      ['start', {}, 'name'],
      ['start', { name: 'none' }, 'there is no app "none"'],
      ['start', { name: '__proto__' }, 'there is no app "__proto__"'],
      ['get', { name: 3 }, 'name'],
    ]
    for (const [name, params, message] of wrong) {
      const error = await refusal(client.request(`${ID}/${name}`, { ...params }))
      expect([error.code, error.message]).toEqual([-32602, expect.stringContaining(message)])
    }
    await client.request(`${ID}/register`, { name: 'second' })
    expect((await refusal(client.request(`${ID}/register`, { name: 'third' }))).message).toBe(
      'there are already 2 apps',
    )
    expect(await client.get(`${ID}/unregister`, { name: 'mine' })).toEqual({})
    expect(await client.get(`${ID}/list`)).toEqual({ apps: [{ name: 'second', state: 'registered' }] })
  },
)

test('unless the server says otherwise, clients start and stop apps but neither add nor remove them', async () => {
  const client = await connect(createWithApps(), { extensions: [apps] })
  const api = apps.of(client)
  await expect(api.register({ name: 'mine' })).rejects.toThrow('does not let clients register')
  await expect(api.unregister({ name: 'bare' })).rejects.toThrow('does not let clients unregister')
  expect(await api.start({ name: 'bare' })).toEqual({ app: { name: 'bare', state: 'running' } })
  await client.close()
})

test('tools of an app that was removed stay hidden, until an app that has them runs', async () => {
  const registry = new Apps([{ name: 'reports', tools: ['report'] }], { allow: () => true })
  const server = createServer({ name: 'apps', version: '1' })
    .tool('report', {}, () => 'reported')
    .extend(apps(registry))
  const client = await connect(server, { extensions: [apps] })
  await apps.of(client).unregister({ name: 'reports' })
  await expect(client.call('report')).rejects.toThrow('does not exist')
  registry.register({ name: 'others', tools: ['report'] })
  await expect(client.call('report')).rejects.toThrow('does not exist')
  await apps.of(client).start({ name: 'others' })
  expect(await client.call('report')).toBe('reported')
  await client.close()
})

test('operations on one app run in turn, and a hook that throws leaves it unchanged', async () => {
  const steps: string[] = []
  let broken = true
  const registry = new Apps([
    {
      name: 'slow',
      start: async () => {
        steps.push('starting')
        await new Promise((resolve) => setImmediate(resolve))
        if (broken) throw new Error('no disk')
        steps.push('started')
      },
      stop: () => void steps.push('stopped'),
    },
  ])
  await expect(registry.start('slow')).rejects.toThrow('no disk')
  expect(registry.get('slow').state).toBe('registered')
  broken = false
  const all = await Promise.all([registry.start('slow'), registry.start('slow'), registry.stop('slow')])
  expect(all.map(({ state }) => state)).toEqual(['running', 'running', 'stopped'])
  expect(steps).toEqual(['starting', 'starting', 'started', 'stopped'])
  await registry.start('slow')
  await Promise.all([
    registry.unregister('slow'),
    expect(registry.start('slow')).rejects.toThrow('was removed'),
  ])
  expect(steps.at(-1)).toBe('stopped')
  expect(registry.list()).toEqual([])
})

test('why a hook failed is nothing for clients', async () => {
  const log: unknown[] = []
  const app = createServer({ name: 'x', version: '1', log: (...told) => log.push(told) }).extend(
    apps([
      {
        name: 'broken',
        start: () => {
          throw new Error('the password is wrong')
        },
      },
    ]),
  )
  const client = await connect(app, { extensions: [apps] })
  const error = await apps
    .of(client)
    .start({ name: 'broken' })
    .catch((thrown: Error) => thrown)
  expect(JSON.stringify(error)).not.toContain('password')
  expect((error as Error).message).not.toContain('password')
  expect(JSON.stringify(log)).toContain('password')
  await client.close()
})

test('a tool that a caller may not see is not named in the app either', async () => {
  const app = createServer({ name: 'x', version: '1' })
    .extend(apps([{ name: 'one', tools: ['open', 'secret'] }]))
    .tool('open', {}, () => 1)
    .tool('secret', { visible: ({ auth }) => auth?.sub === 'root' }, () => 1)
  const seen = async (sub: string): Promise<unknown> => {
    const server = {
      connect: (options: Parameters<typeof app.connect>[0]) => app.connect({ ...options, auth: { sub } }),
    }
    const client = await connect(server, { extensions: [apps] })
    const { app: shown } = await apps.of(client).start({ name: 'one' })
    const names = []
    for await (const tool of client.tools()) names.push(tool.name)
    await client.close()
    return [shown.tools, names]
  }
  expect(await seen('root')).toEqual([
    ['open', 'secret'],
    ['open', 'secret'],
  ])
  expect(await seen('guest')).toEqual([['open'], ['open']])
})

test('a tool that is defined anew still belongs to its app', async () => {
  const app = createWithApps()
  app.remove('tool', 'report')
  app.tool('report', {}, () => 'again')
  const client = await connect(app, { extensions: [apps] })
  await expect(client.call('report')).rejects.toThrow('does not exist')
  await apps.of(client).start({ name: 'reports' })
  expect(await client.call('report')).toBe('again')
  await client.close()
})

test('the server itself starts and adds apps, and clients are notified', async () => {
  const registry = new Apps([{ name: 'first' }])
  const app = createServer({ name: 'x', version: '1' }).extend(apps(registry))
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const client = await connect(app, { extensions: [apps], revision })
    const api = apps.of(client)
    let heard = (): void => undefined
    const told = new Promise<void>((resolve) => (heard = resolve))
    const stop = await api.onChange(() => heard())
    await registry.start('first')
    await told
    stop()
    await registry.stop('first')
    await client.close()
  }
  expect(() => registry.register({ name: 'first' })).toThrow('apps: the app "first" is already registered')
  expect(() => registry.register({ name: 'x', begin: 1 } as never)).toThrow('begin')
  expect(() => new Apps({} as never)).toThrow('apps must be a list')
})

test('a client is notified of changes over HTTP, also after it reconnected', async () => {
  const registry = new Apps([{ name: 'first' }])
  const app = createServer({ name: 'x', version: '1' }).extend(apps(registry))
  const running = await app.listen({ http: { port: 0 } })
  for (const revision of ['2025-06-18', '2026-07-28'] as const) {
    const client = await connect(running.url as string, { extensions: [apps], revision })
    let heard = 0
    const stop = await apps.of(client).onChange(() => heard++)
    await expect
      .poll(async () => {
        await registry.start('first')
        await registry.stop('first')
        return heard
      })
      .toBeGreaterThan(0)
    stop()
    await client.close()
  }
  await running.close()
  await using client = await testClient(app, { extensions: [apps] })
  let heard = 0
  await apps.of(client).onChange(() => heard++)
  client.faults.drop()
  await expect
    .poll(async () => {
      await registry.start('first')
      await registry.stop('first')
      return heard
    })
    .toBeGreaterThan(0)
})

test('a client is notified of changes again after the server was restarted', async () => {
  const registry = new Apps([{ name: 'first' }])
  const app = createServer({ name: 'x', version: '1' }).extend(apps(registry))
  const first = await app.listen({ tcp: { port: 0 } })
  const url = first.addresses.tcp as string
  await using client = await connect(url, { extensions: [apps], revision: '2026-07-28' })
  let heard = 0
  await apps.of(client).onChange(() => heard++)
  await first.close()
  const second = await app.listen({ tcp: { port: Number(new URL(url).port) } })
  await expect
    .poll(
      async () => {
        await registry.start('first')
        await registry.stop('first')
        return heard
      },
      { interval: 100 },
    )
    .toBeGreaterThan(0)
  await client.close()
  await second.close()
})
