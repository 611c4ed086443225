import { describe, expect, test } from 'vitest'
import { createServer, McpError, type App, type Context } from '../../src/index.ts'
import { apps } from '../../src/extensions.ts'
import { erlmcp } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { open as openClient } from '../harness/client.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { open, start } from '../http/server.ts'
import { post, type Received } from '../http/wire.ts'

const input = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
} as const
const isAdmin = ({ client }: Context): boolean => client.info?.name === 'admin'

/** A server that hides the tool `secret` from everybody but one client, each in its own way. */
const HIDING: Readonly<Record<string, () => App>> = {
  visible: () =>
    createServer({ name: 'hides', version: '1', ttl: '1m' })
      .tool('open', {}, () => 'open')
      .tool('secret', { input, visible: isAdmin }, () => 'secret'),
  middleware: () =>
    createServer({ name: 'hides', version: '1', ttl: '1m' })
      .tool('open', {}, () => 'open')
      .tool('secret', { input }, () => 'secret')
      .use('tools/call', (context, next) => {
        if (isAdmin(context) || context.params['name'] !== 'secret') return next()
        throw new McpError('unknown_tool', 'tool "secret" does not exist')
      })
      .use('tools/list', async (context, next) => {
        const { tools, ...rest } = (await next()) as { tools: readonly { name: string }[] }
        return { ...rest, tools: isAdmin(context) ? tools : tools.filter(({ name }) => name !== 'secret') }
      }),
}

describe.each(Object.entries(HIDING))('a tool that is hidden by %s', (_, make) => {
  test('is answered as an unknown one, whatever headers it would want', async () => {
    const { port } = await start(make())
    const ask = async (name: string, args: JsonObject, more = {}): Promise<[number, string]> => {
      const { headers, body } = headed('tools/call', { name, arguments: args })
      const { status, text } = await post(port, body, { ...headers, ...more })
      return [status, text.replaceAll(name, 'NAME')]
    }
    const ways: readonly [JsonObject, object][] = [
      [{ region: 'eu' }, {}],
      [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
      [{ region: 'eu' }, { 'mcp-param-region': 'eu' }],
      [{}, { 'mcp-param-region': 'us' }],
      [{ region: 5 }, {}],
    ]
    for (const [args, more] of ways) {
      const hidden = await ask('secret', args, more)
      expect(hidden).toEqual(await ask('absent', args, more))
      expect(hidden).toMatchObject([200, expect.stringContaining('-32602') as string])
    }
  })

  test('requires its headers only from callers that see it', async () => {
    const { port } = await start(make())
    const asAdmin = (args: JsonObject, more = {}): Promise<Received> => {
      const _meta = { 'io.modelcontextprotocol/clientInfo': { name: 'admin', version: '1' } }
      const { headers, body } = headed('tools/call', { name: 'secret', arguments: args, _meta })
      return post(port, body, { ...headers, ...more })
    }
    expect((await asAdmin({ region: 'eu' }, { 'mcp-param-region': 'eu' })).json).toMatchObject({ result: {} })
    const refused = await asAdmin({ region: 'eu' })
    expect([refused.status, refused.json]).toMatchObject([400, { error: { code: -32020 } }])
  })

  test('makes the list that lacks it private', async () => {
    const client = await openClient(make() as never, { transport: 'memory', revision: '2026-07-28' })
    const { tools, cacheScope } = await client.request('tools/list')
    expect([tools, cacheScope]).toMatchObject([[{ name: 'open' }], 'private'])
    expect(await client.request('server/discover')).toMatchObject({ cacheScope: 'public' })
  })
})

test('a hidden template cannot be found by its name in a profile that allows names', async () => {
  const app = createServer({ name: 'hides', version: '1', profile: erlmcp, capabilities: ['completions'] })
    .resource('vault://internal-7/{+key}', { name: 'vault', visible: () => false }, () => 'x')
    .resource('scoped://internal-8/{+key}', { name: 'scoped', scopes: ['a:b'] }, () => 'x')
  const client = await openClient(app as never, { transport: 'memory', revision: '2025-11-25' })
  const ask = (name: string): Promise<JsonObject> =>
    client.request('completion/complete', {
      ref: { type: 'ref/resource', name },
      argument: { name: 'key', value: '' },
    })
  for (const name of ['vault', 'absent'])
    await expect(ask(name)).rejects.toThrow(`nothing to complete: there is no resource template "${name}"`)
  await expect(ask('scoped')).rejects.toThrow('needs the scopes a:b')
})

test.each([false, true])(
  'no cursor tells whether items exist that the caller does not see (templates list: %s)',
  async (listing) => {
    const app = createServer({ name: 'hides', version: '1', pageSize: 1, log: () => undefined })
    const list = listing ? { list: () => [{ variables: { y: '1' } }] } : {}
    for (const word of ['a', 'b', 'c', 'd', 'off']) {
      const options = word === 'c' || word === 'd' ? { visible: () => false } : {}
      app.tool(word, options, () => 1).prompt(word, options, () => 'x')
      app.resource(`x://${word}/{y}`, { ...options, ...list }, () => 'x')
      app.resource(`x://${word}`, options, () => 'x')
    }
    app.disable('tool', 'off').disable('prompt', 'off')
    app.disable('resource', 'x://off').disable('resource', 'x://off/{y}')
    const client = await openClient(app as never, { transport: 'memory', revision: '2025-11-25' })
    for (const [name, method] of [
      ['tools', 'tools/list'],
      ['prompts', 'prompts/list'],
      ['resources', 'resources/list'],
      ['resourceTemplates', 'resources/templates/list'],
    ] as const) {
      const first = (await client.request(method))['nextCursor'] as string
      const [, place, age] = atob(first).split(':') as [string, string, string | undefined]
      const pages: string[] = []
      for (let at = Number.parseInt(place, 10); pages.length < 40; at++) {
        const cursor = btoa([name, at, ...(age === undefined ? [] : [age])].join(':')).replace(/=+$/, '')
        const kindOf = (page: JsonObject): string => ((page[name] as []).length === 0 ? 'empty' : 'full')
        pages.push(await client.request(method, { cursor }).then(kindOf, (error: Error) => error.message))
      }
      // Only the place of the last item that the caller sees leads to an empty page.
      expect([name, pages.lastIndexOf('full') + 1]).toEqual([name, pages.indexOf('empty')])
      const beyond = new Set(pages.slice(pages.indexOf('empty') + 1))
      expect([name, ...beyond]).toEqual([name, 'the cursor does not belong to this list'])
    }
  },
)

describe('a tool of an app', () => {
  const ID = 'dev.pierhead/apps'
  const admin = apps([{ name: 'admin', tools: ['open', 'wipe'] }])
  const base = (): App => createServer({ name: 'hides', version: '1', log: () => undefined })
  const never = { visible: ({ key }: { readonly key: string }): boolean => key !== 'wipe' }
  /** Servers that hide the tool `wipe` from this client, each in its own way. */
  const WAYS: Readonly<Record<string, () => App>> = {
    'visible that returns undefined': () => guarded(() => undefined),
    'visible that returns a word': () => guarded(() => 'yes'),
    'visible that returns a promise': () => guarded(async () => true),
    'a plug-in before the extension': () => both(base().use(never)).extend(admin),
    'a plug-in after the extension': () => both(base().extend(admin)).use(never),
    'a plug-in between tools and extension': () => both(base()).use(never).extend(admin),
    'a plug-in that returns undefined': () =>
      both(base().extend(admin)).use({
        visible: ({ key }) => (key === 'wipe' ? undefined : true) as boolean,
      }),
    'being disabled': () => both(base().extend(admin)).disable('tool', 'wipe'),
    'being disabled before the extension': () => both(base()).disable('tool', 'wipe').extend(admin),
    'being removed': () => {
      const app = both(base()).extend(admin)
      app.remove('tool', 'wipe')
      return app
    },
  }
  function both(app: App, options: object = {}): App {
    return app.tool('open', {}, () => 'open').tool('wipe', options, () => 'wiped') as App
  }
  function guarded(visible: () => unknown): App {
    return both(base(), { visible }).extend(admin)
  }

  test.each(Object.entries(WAYS))('is hidden by %s, whether its app runs or not', async (_, make) => {
    const client = await openClient(make() as never, {
      transport: 'memory',
      revision: '2025-11-25',
      capabilities: { experimental: { [ID]: {} } },
    })
    const facts = { name: 'admin', tools: ['open'] }
    expect(await client.request(`${ID}/list`)).toMatchObject({ apps: [{ ...facts, state: 'registered' }] })
    await expect(client.call('wipe')).rejects.toThrow('tool "wipe" does not exist')
    expect(await client.request(`${ID}/start`, { name: 'admin' })).toMatchObject({ app: facts })
    expect(await client.request(`${ID}/get`, { name: 'admin' })).toMatchObject({ app: facts })
    expect(await client.request('tools/list')).toMatchObject({ tools: [{ name: 'open' }] })
    await expect(client.call('wipe')).rejects.toThrow('tool "wipe" does not exist')
    expect(await client.request(`${ID}/stop`, { name: 'admin' })).toMatchObject({ app: facts })
  })

  test('is named in it as soon as it is shown', async () => {
    const app = both(base().extend(admin)).disable('tool', 'wipe')
    const client = await openClient(app as never, {
      transport: 'memory',
      revision: '2025-11-25',
      capabilities: { experimental: { [ID]: {} } },
    })
    expect(await client.request(`${ID}/list`)).toMatchObject({ apps: [{ tools: ['open'] }] })
    app.enable('tool', 'wipe')
    expect(await client.request(`${ID}/list`)).toMatchObject({ apps: [{ tools: ['open', 'wipe'] }] })
  })
})

test('a list is private as soon as any middleware may change it, and public again by its word', async () => {
  const app = createServer({ name: 'wrapped', version: '1' })
    .tool('a', {}, () => 'a')
    .resource('a://b', {}, () => 'b')
    .resource('a://{c}', {}, () => 'c')
    .prompt('p', {}, () => 'p')
  const client = await openClient(app as never, { transport: 'memory', revision: '2026-07-28' })
  const LISTS = [
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'prompts/list',
    'server/discover',
  ]
  const scopes = async (): Promise<unknown[]> => {
    const results = await Promise.all(LISTS.map((method) => client.request(method)))
    return results.map(({ cacheScope }) => cacheScope)
  }
  expect(await scopes()).toEqual(LISTS.map(() => 'public'))
  app.use('tools/call', (_, next) => next())
  expect(await scopes()).toEqual(LISTS.map(() => 'public'))
  app.use('prompts/list', (_, next) => next())
  expect(await scopes()).toEqual(['public', 'public', 'public', 'private', 'public'])
  app.use(async (_, next) => next())
  expect(await scopes()).toEqual(LISTS.map(() => 'private'))
  app.use('tools/list', async (_, next) => ({ ...(await next()), cacheScope: 'public' }))
  expect((await scopes())[0]).toBe('public')
})

describe('without sessions', () => {
  const full = (): App =>
    createServer({ name: 'full', version: '1' })
      .tool('a', {}, () => 'a')
      .resource('a://b', {}, () => 'b')
      .prompt('p', {}, () => 'p')

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'nothing is declared at %s that could not be delivered, and a subscription is refused',
    async (revision) => {
      const { port } = await start(full(), { sessions: false })
      const { json } = await post(port, initialize(revision), BOTH)
      expect((json['result'] as JsonObject)['capabilities']).toEqual({
        tools: {},
        resources: {},
        prompts: {},
        logging: {},
      })
      const versioned = { ...BOTH, 'mcp-protocol-version': revision }
      const reply = await post(port, message('resources/subscribe', { uri: 'a://b' }, 2), versioned)
      expect(reply.json).toMatchObject({ error: { code: -32601 } })
      const ended = await post(port, message('resources/unsubscribe', { uri: 'a://b' }, 3), versioned)
      expect(ended.json).toMatchObject({ error: { code: -32601 } })
      expect((await post(port, call('a'), versioned)).json).toMatchObject({ result: {} })
    },
  )

  test('a session and 2026-07-28 still have it all', async () => {
    const { port } = await start(full())
    const { json } = await post(port, initialize(), BOTH)
    const all = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } }
    expect((json['result'] as JsonObject)['capabilities']).toMatchObject(all)
    const session = await open(port)
    const reply = await session.post(message('resources/subscribe', { uri: 'a://b' }, 2))
    expect(reply.json).toMatchObject({ result: {} })
    const stateless = await start(full(), { sessions: false })
    const { headers, body } = headed('server/discover')
    const discovered = await post(stateless.port, body, headers)
    expect((discovered.json['result'] as JsonObject)['capabilities']).toMatchObject(all)
  })
})
