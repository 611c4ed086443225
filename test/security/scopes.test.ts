import { createServer as createHttp } from 'node:http'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { toolCompletion, toolStream } from '../../src/extensions.ts'
import { createServer, McpError, type App, type Auth, type ListenOptions } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { testClient } from '../../src/testing.ts'
import { testSocket } from '../harness/sockets.ts'
import { call, headed, type Headed } from '../http/messages.ts'
import { open, start } from '../http/server.ts'
import { listen } from '../mounts/tour.ts'

const scopes = ['notes:read', 'notes:write']
const READER: Auth = { sub: 'ann', scopes: ['notes:read', 'other'] }
const WRITER: Auth = { sub: 'bob', scopes: ['notes:write', 'notes:read'] }
/** A name that contains a scope is not that scope. */
const NEARLY: Auth = {
  sub: 'eve',
  scopes: ['notes', 'notes:read notes:write', 'xnotes:read', 'notes:write2'],
}

interface Logged {
  readonly app: App
  readonly warnings: string[]
}

/** A server with one scoped item of each kind, and an open one of each. */
function notes(): Logged {
  const warnings: string[] = []
  const log = (level: string, message: string): unknown => level === 'warning' && warnings.push(message)
  const app = createServer({ name: 'notes', version: '1', log })
    .tool('save', { scopes, input: { type: 'object', properties: { kind: { enum: ['a'] } } } }, () => 'saved')
    .tool('open', {}, () => 'open')
    .resource('note://1', { scopes }, () => 'one')
    .resource('note://by/{who}', { scopes }, ({ who }) => who)
    .resource('open://1', {}, () => 'open')
    .prompt('sum', { scopes, args: { type: 'object', properties: { id: { type: 'string' } } } }, () => 'sum')
    .complete('sum', 'id', () => ['1'])
    .complete('note://by/{who}', 'who', () => ['ann'])
    .extend(toolCompletion())
    .extend(toolStream())
  return { app, warnings }
}

const about = { name: 'x', value: '' }
/** Every request about one item. */
const USES: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'tools/call': (client) => client.call('save'),
  'resources/read': (client) => client.read('note://1'),
  'resources/read of a template': (client) => client.read('note://by/ann'),
  'prompts/get': (client) => client.prompt('sum'),
  'a streamed call': (client) => toolStream.of(client).stream('save').next(),
  'completion of a prompt': (client) => client.complete('sum', { ...about, name: 'id' }),
  'completion of a template': (client) => client.complete('note://by/{who}', { ...about, name: 'who' }),
  'completion of a tool': (client) =>
    client.request('completion/complete', {
      ref: { type: 'ref/tool', name: 'save' },
      argument: { ...about, name: 'kind' },
    }),
}
const REJECTED = {
  kind: 'insufficient_scope',
  code: 1014,
  refusal: 'AUTHZ_FORBIDDEN',
  retryable: false,
  data: { scopes },
}

async function outcome(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => 'done',
    (error: unknown) => error,
  )
}

function member(revision: Revision, auth: Auth | undefined, app: App): Promise<Client> {
  const options = { revision, extensions: [toolCompletion, toolStream], ...(auth && { auth }) }
  return testClient(app, options) as Promise<Client>
}

describe.each(REVISIONS)('at %s', (revision) => {
  test.each(Object.entries(USES))('%s of a scoped item needs all its scopes', async (_, use) => {
    for (const auth of [undefined, {}, { scopes: [] }, READER, NEARLY]) {
      const client = await member(revision, auth, notes().app)
      expect(await outcome(use(client))).toMatchObject(REJECTED)
    }
    expect(await outcome(use(await member(revision, WRITER, notes().app)))).toBe('done')
  })

  test('lists show scoped items to everybody, so that clients know what to ask for', async () => {
    const client = await member(revision, undefined, notes().app)
    const names = async (items: AsyncIterable<{ readonly name: string }>): Promise<string[]> => {
      const found: string[] = []
      for await (const { name } of items) found.push(name)
      return found
    }
    expect(await names(client.tools())).toEqual(['save', 'open'])
    expect(await names(client.resources())).toEqual(['1', '1'])
    expect(await names(client.templates())).toEqual(['who'])
    expect(await names(client.prompts())).toEqual(['sum'])
    expect(await client.call('open')).toBe('open')
  })

  test('an item that is added later needs its scopes as well', async () => {
    const { app } = notes()
    const client = await member(revision, READER, app)
    app.tool('late', { scopes: ['x'] }, () => 'late').resource('late://1', { scopes: ['x'] }, () => 'late')
    app.add({ map: { scopes: ['x'], run: () => 'map' } })
    const rejected = { ...REJECTED, data: { scopes: ['x'] } }
    expect(await outcome(client.call('late'))).toMatchObject(rejected)
    expect(await outcome(client.call('map'))).toMatchObject(rejected)
    expect(await outcome(client.read('late://1'))).toMatchObject(rejected)
    app.remove('tool', 'open')
    app.tool('open', { scopes: ['x'] }, () => 'open')
    expect(await outcome(client.call('open'))).toMatchObject(rejected)
  })

  test('a hidden item does not exist, whatever its scopes', async () => {
    const app = createServer({ name: 'x', version: '1', log: () => undefined })
      .tool('a', { scopes, visible: () => false }, () => 'a')
      .prompt('p', { scopes, visible: () => false }, () => 'p')
    const client = await member(revision, undefined, app)
    expect(await outcome(client.call('a'))).toMatchObject({ kind: 'unknown_tool' })
    expect(await outcome(client.prompt('p'))).toMatchObject({ kind: 'unknown_prompt' })
  })
})

test('a scope that no token could name is rejected where it is defined', () => {
  for (const scope of ['', 'a b', 'a"b', 'a\\b', 'ä', 'a\n']) {
    const app = createServer({ name: 'x', version: '1' })
    expect(() => app.tool('a', { scopes: [scope] }, () => 'a')).toThrow('scopes must be')
  }
})

test('a framework that sets scopes as one text grants none', async () => {
  for (const text of ['notes:read notes:write', 'all']) {
    const auth = { sub: 'ann', scopes: text } as unknown as Auth
    const client = await member('2025-11-25', auth, notes().app)
    expect(await outcome(client.call('save'))).toMatchObject(REJECTED)
  }
})

test('scopes that are too long for a header are only in the body', async () => {
  const long = `read:${'x'.repeat(20_000)}`
  const many = Array.from({ length: 2000 }, (_, at) => `read:${at}`)
  const app = createServer({ name: 'x', version: '1' })
    .tool('long', {}, () => {
      throw new McpError('insufficient_scope', 'more', { data: { scopes: ['x', long, 'y'] } })
    })
    .tool('many', {}, () => {
      throw new McpError('insufficient_scope', 'more', { data: { scopes: many } })
    })
  const { port } = await start(app)
  const client = await open(port)
  const first = await client.post(call('long'))
  expect([first.status, first.headers['www-authenticate']]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="x y"',
  ])
  expect(JSON.parse(first.text)).toMatchObject({ error: { data: { scopes: ['x', long, 'y'] } } })
  const second = await client.post(call('many'))
  expect(second.headers['www-authenticate']).toMatch(
    /^Bearer error="insufficient_scope", scope="read:0 read:1 /,
  )
  expect(second.headers['www-authenticate']?.length).toBeLessThan(2200)
})

test('a handler may ask for scopes as well', async () => {
  const app = createServer({ name: 'x', version: '1' }).tool('a', {}, () => {
    throw new McpError('insufficient_scope', 'large orders need more', {
      data: { scopes: ['x', 'a"\r\nb', 1] },
    })
  })
  const { port } = await start(app)
  const reply = await (await open(port)).post(call('a'))
  expect([reply.status, reply.headers['www-authenticate']]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="x"',
  ])
})

test('an empty list of scopes lets everybody in', async () => {
  const app = createServer({ name: 'x', version: '1' }).tool('a', { scopes: [] }, () => 'a')
  expect(await (await member('2025-11-25', undefined, app)).call('a')).toBe('a')
})

describe('subscriptions', () => {
  test('a subscription to a scoped resource is rejected', async () => {
    const session = async (auth: Auth): Promise<unknown> => {
      const client = await member('2025-11-25', auth, notes().app)
      return outcome(client.request('resources/subscribe', { uri: 'note://by/ann' }))
    }
    expect(await session(READER)).toMatchObject(REJECTED)
    expect(await session(WRITER)).toBe('done')
  })

  test('subscriptions/listen leaves out the scoped resources that the caller may not read', async () => {
    const watched = async (auth: Auth): Promise<unknown> => {
      const app = notes().app
      const client = await member('2026-07-28', auth, app)
      const acknowledged = new Promise((resolve) =>
        client.on('notification', ({ method, params }) => {
          if (method === 'notifications/subscriptions/acknowledged') resolve(params['notifications'])
        }),
      )
      const resourceSubscriptions = ['open://1', 'note://1', 'note://by/ann']
      const notifications = { toolsListChanged: true, resourceSubscriptions }
      const stop = new AbortController()
      const listening = client.request('subscriptions/listen', { notifications }, { signal: stop.signal })
      const honoured = await acknowledged
      stop.abort()
      await outcome(listening)
      return honoured
    }
    expect(await watched(READER)).toEqual({ toolsListChanged: true, resourceSubscriptions: ['open://1'] })
    expect(await watched(WRITER)).toMatchObject({
      resourceSubscriptions: ['open://1', 'note://1', 'note://by/ann'],
    })
  })
})

const CHALLENGE = `Bearer error="insufficient_scope", scope="notes:read notes:write"`

async function post(url: string, { body, headers }: Headed, user?: string): Promise<Response> {
  const more = user === undefined ? {} : { 'x-user': user }
  return fetch(url, { method: 'POST', body, headers: { ...headers, ...more } })
}

const REQUESTS: readonly [string, JsonObject][] = [
  ['tools/call', { name: 'save' }],
  ['resources/read', { uri: 'note://1' }],
  ['resources/read', { uri: 'note://by/ann' }],
  ['prompts/get', { name: 'sum' }],
]

describe('over HTTP the answer is 403 with a challenge that names the scopes', () => {
  const known: Readonly<Record<string, Auth>> = { reader: READER, writer: WRITER }

  async function mounted(app: App): Promise<string> {
    const site = express()
    site.use((request, _, next) =>
      next(void Object.assign(request, { auth: known[request.header('x-user')!] })),
    )
    site.use('/mcp', app.node())
    return listen(createHttp(site))
  }

  test.each(REQUESTS)('app.node(): %s %o', async (method, params) => {
    const url = await mounted(notes().app)
    for (const user of [undefined, 'reader']) {
      const reply = await post(url, headed(method, params), user)
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, CHALLENGE])
      expect(await reply.json()).toMatchObject({ id: 1, error: { code: 1014, data: { scopes } } })
    }
    expect((await post(url, headed(method, params), 'writer')).status).toBe(200)
  })

  test.each(REQUESTS)('app.fetchWith(): %s %o', async (method, params) => {
    const serve = notes().app.fetchWith({})
    const ask = (auth?: Auth): Promise<Response> => {
      const request = new Request('http://localhost/mcp', { method: 'POST', ...headed(method, params) })
      return serve(request, auth && { auth })
    }
    for (const auth of [undefined, READER]) {
      const reply = await ask(auth)
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, CHALLENGE])
    }
    expect((await ask(WRITER)).status).toBe(200)
  })

  test('in a session, each request counts with its own scopes', async () => {
    const { app } = notes()
    const serve = app.fetchWith({})
    const { port } = await start(app)
    const session = await open(port)
    const reply = await session.post(call('save'))
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([403, CHALLENGE])
    const ask = async (body: string, auth: Auth, more = {}): Promise<Response> =>
      serve(
        new Request('http://localhost/', { method: 'POST', body, headers: { ...session.headers, ...more } }),
        { auth },
      )
    const opening = new Request('http://localhost/', {
      method: 'POST',
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    })
    const id = (await serve(opening, { auth: WRITER })).headers.get('mcp-session-id') as string
    const own = { 'mcp-session-id': id }
    expect((await ask(call('save'), WRITER, own)).status).toBe(200)
    expect((await ask(call('save'), { ...WRITER, scopes: ['notes:read'] }, own)).status).toBe(403)
  })

  test('our client reports the error of the server', async () => {
    const client = await connect(await mounted(notes().app), { headers: { 'x-user': 'reader' } })
    onTestFinished(() => client.close())
    const error = (await outcome(client.call('save'))) as Error
    expect(error).toMatchObject({
      ...REJECTED,
      data: { scopes, status: 403, wwwAuthenticate: CHALLENGE },
    })
    expect(error.message).toContain('the caller lacks notes:write')
  })

  test('the developer envelopes reject it with 403 too', async () => {
    const url = await listen(createHttp(notes().app.node({ gist: true })))
    const asked = { request_id: crypto.randomUUID(), tool_id: 'save', arguments: {} }
    const reply = await fetch(new URL('/gist', url), {
      method: 'POST',
      body: JSON.stringify(asked),
      headers: { 'content-type': 'application/json' },
    })
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, CHALLENGE])
  })
})

describe('without authentication', () => {
  const LISTENING: readonly (readonly [string, ListenOptions])[] = [
    ['http', { http: { port: 0 } }],
    ['http+sse', { http: { port: 0, sse: true } }],
    ['ws', { ws: { port: 0 } }],
    ['tcp', { tcp: { port: 0 } }],
  ]

  test.each(LISTENING)('a server on %s starts, warns once and rejects such calls', async (name, options) => {
    const { app, warnings } = notes()
    const running = await app.listen({ onUncaught: 'exit', ...options })
    onTestFinished(() => running.close())
    const { http = '', ws = '', tcp = '' } = running.addresses
    const address = name === 'http+sse' ? http.replace('/mcp', '/sse') : http || ws || tcp
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('"save"')
    const client = await connect(address)
    onTestFinished(() => client.close())
    const { refusal, retryable } = REJECTED
    expect(await outcome(client.call('save'))).toMatchObject({ refusal, retryable })
    expect(await outcome(client.read('note://1'))).toMatchObject({ refusal, retryable })
    expect(await client.call('open')).toBe('open')
    expect(warnings).toHaveLength(1)
  })

  test('it warns when the first such call is rejected if the item came later, or where a framework may authenticate', async () => {
    const { app, warnings } = notes()
    const client = await member('2026-07-28', undefined, app)
    expect(warnings).toEqual([])
    await outcome(client.prompt('sum'))
    await outcome(client.call('save'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('"sum"')
    const quiet = notes()
    await outcome((await member('2026-07-28', READER, quiet.app)).call('save'))
    expect(quiet.warnings).toEqual([])
  })

  test('a server without scopes has nothing to warn of', async () => {
    const warnings: string[] = []
    const app = createServer({ name: 'x', version: '1', log: (_, message) => void warnings.push(message) })
    app.tool('a', { scopes: [] }, () => 'a')
    const running = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
    await running.close()
    expect(warnings).toEqual([])
  })
})

describe('whoever reaches a Unix socket', () => {
  async function reach(more: { readonly scopes?: readonly string[] }): Promise<{ client: Client } & Logged> {
    const { app, warnings } = notes()
    app.tool('rights', {}, (_, { auth }) => JSON.stringify(auth ?? null))
    const running = await app.listen({ unix: { path: testSocket(), ...more }, onUncaught: 'exit' })
    onTestFinished(() => running.close())
    const client = await connect(running.addresses.unix as string)
    onTestFinished(() => client.close())
    return { client, app, warnings }
  }

  test('has all scopes', async () => {
    const { client, warnings } = await reach({})
    expect(await client.call('save')).toBe('saved')
    expect(await outcome(client.read('note://1'))).toBe('done')
    expect(await client.call('rights')).toBe('null')
    expect(warnings).toEqual([])
  })

  test('has the scopes of its options, if they name some', async () => {
    const { client } = await reach({ scopes: ['notes:read'] })
    expect(await outcome(client.call('save'))).toMatchObject(REJECTED)
    expect(await client.call('rights')).toBe('{"scopes":["notes:read"]}')
    expect(await (await reach({ scopes })).client.call('save')).toBe('saved')
    expect(await outcome((await reach({ scopes: [] })).client.call('save'))).toMatchObject(REJECTED)
  })
})
