import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bearer, createApiKey, oauth } from '../../src/auth.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { send, stream, type Received } from '../http/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openSocket } from '../ws/server.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { listen, RESOURCE, server, as as withToken } from './server.ts'

type Sendable = Readonly<Record<string, string>>

let issuer: Issuer
/** Real tokens of two callers. */
const tokens = new Map<string, string>()

beforeAll(async () => {
  issuer = await startIssuer()
  for (const client of ['ann', 'bob'] as const)
    tokens.set(client, await issuer.token({ resource: RESOURCE, client }))
})
afterAll(() => issuer.close())

/** Accepts the tokens of the issuer. */
function people(): ReturnType<typeof oauth> {
  return oauth({ issuer: issuer.url, resource: RESOURCE })
}

/** The headers of a caller. Other names are their own tokens. */
function as(name: string): ReturnType<typeof withToken> {
  return withToken(tokens.get(name) ?? name)
}

/** What a client can compare: the status and the body. */
const seen = ({ status, text }: Received): readonly [number, string] => [status, text]

/** Opens a session, and gives the headers that its messages need. */
async function openSession(port: number, token: string): Promise<Sendable> {
  const headers = { ...BOTH, ...as(token) }
  const { headers: got } = await send(port, { body: initialize(), headers })
  return {
    ...headers,
    'mcp-session-id': got['mcp-session-id'] as string,
    'mcp-protocol-version': '2025-11-25',
  }
}

describe('a session belongs to its caller', () => {
  const REQUESTS: Readonly<Record<string, object>> = {
    'a request': { body: call('who') },
    'a notification': { body: message('notifications/initialized') },
    'a response': { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }) },
    'opening its stream': { method: 'GET' },
    'resuming a stream': { method: 'GET', more: { 'last-event-id': 's_0' } },
    'ending it': { method: 'DELETE' },
    'initializing it again': { body: initialize() },
  }

  test.each(Object.entries(REQUESTS))(
    '%s of another caller is answered as if it did not exist',
    async (_, asked) => {
      const { port } = await listen(people())
      const session = await openSession(port, 'ann')
      const { more = {}, ...rest } = asked as { readonly more?: Sendable }
      const accept = 'method' in asked ? { accept: 'text/event-stream' } : {}
      const asBob = { ...session, ...as('bob'), ...accept, ...more }
      const stolen = await send(port, { ...rest, headers: asBob })
      const unknown = await send(port, {
        ...rest,
        headers: { ...asBob, 'mcp-session-id': crypto.randomUUID() },
      })
      expect(stolen.status).toBe(404)
      expect(seen(stolen)).toEqual(seen(unknown))
      // It still works for its owner.
      expect((await send(port, { body: call('who'), headers: session })).json).toMatchObject({
        result: { content: [{ text: 'ann' }] },
      })
    },
  )

  test('without a token nobody reaches it, and with a bad one neither', async () => {
    const { port } = await listen(people())
    const { authorization: _, ...session } = await openSession(port, 'ann')
    for (const headers of [session, { ...session, ...as('mallory') }])
      expect((await send(port, { body: call('who'), headers })).status).toBe(401)
  })
})

test('the events of a stream are replayed only for its caller', async () => {
  const { app, port } = await listen(people())
  app.tool('steps', {}, async (_, { progress }) => {
    progress(1, 2, 'a secret')
    return 'done'
  })
  const session = await openSession(port, 'ann')
  const body = call('steps', {}, 2, { progressToken: 1 })
  const first = await send(port, { body, headers: session })
  const [event] = first.events
  const headers = { ...session, accept: 'text/event-stream', 'last-event-id': event?.id ?? '' }
  const stolen = await send(port, { method: 'GET', headers: { ...headers, ...as('bob') } })
  const unknown = await send(port, {
    method: 'GET',
    headers: { ...headers, ...as('bob'), 'mcp-session-id': crypto.randomUUID() },
  })
  expect(seen(stolen)).toEqual(seen(unknown))
  // With a session of his own, the id of the event is that of no stream of his.
  const own = await openSession(port, 'bob')
  const foreign = await send(port, {
    method: 'GET',
    headers: { ...own, accept: 'text/event-stream', 'last-event-id': event?.id ?? '' },
  })
  expect([foreign.status, foreign.text]).toEqual([400, expect.not.stringContaining('secret')])
  expect((await send(port, { method: 'GET', headers })).text).toContain('a secret')
})

test('the stream of HTTP+SSE takes messages only of its caller', async () => {
  const { port } = await listen(people())
  const opened = await stream(port, {
    method: 'GET',
    path: '/sse',
    headers: { accept: 'text/event-stream', ...as('ann') },
  })
  await opened.until(() => opened.events.length > 0)
  const path = opened.events[0]?.data as string
  const tell = (to: string, token: string): Promise<Received> =>
    send(port, { path: to, body: initialize('2024-11-05'), headers: { ...BOTH, ...as(token) } })
  const stolen = await tell(path, 'bob')
  const unknown = await tell(`/messages?sessionId=${crypto.randomUUID()}`, 'bob')
  expect(stolen.status).toBe(404)
  expect(seen(stolen)).toEqual(seen(unknown))
  expect((await tell(path, 'ann')).status).toBe(202)
})

test('without a token, addresses of HTTP+SSE that exist are not told from others', async () => {
  const { port } = await listen(people())
  const headers = { accept: 'text/event-stream', ...as('ann') }
  const opened = await stream(port, { method: 'GET', path: '/sse', headers })
  await opened.until(() => opened.events.length > 0)
  const tell = (path: string): Promise<Received> => send(port, { path, body: initialize(), headers: BOTH })
  const known = await tell(opened.events[0]?.data as string)
  expect(known.status).toBe(401)
  expect(seen(await tell(`/messages?sessionId=${crypto.randomUUID()}`))).toEqual(seen(known))
})

test('a WebSocket session is resumed only by its caller', async () => {
  const { port } = await listen(people())
  const idOf = ({ head }: { readonly head: string }): string =>
    /^mcp-session-id: (.*)$/im.exec(head)?.[1] as string
  const ann = await openSocket(port, { ...as('ann'), 'last-event-id': '0' })
  ann.write(frame(message('ping', {}, 1)))
  await ann.until(() => ann.texts.length === 1)
  const back = { 'mcp-session-id': idOf(ann), 'last-event-id': '0' }
  const bob = await openSocket(port, { ...as('bob'), ...back })
  // As with an id that does not exist, he gets a new session, and nothing of hers.
  expect(idOf(bob)).not.toBe(idOf(ann))
  expect(bob.texts).toEqual([])
  ann.socket.destroy()
  const again = await openSocket(port, { ...as('ann'), ...back })
  expect(idOf(again)).toBe(idOf(ann))
  await again.until(() => again.texts.length === 1)
})

test('a gist session belongs to its caller', async () => {
  const { port } = await listen(people())
  const ask = (body: object, token: string): Promise<Received> =>
    send(port, { path: '/gist', body: JSON.stringify(body), headers: { ...BOTH, ...as(token) } })
  const { session } = (await ask({ mcp_version: '2025-11', capabilities: [] }, 'ann')).json
  const request = { request_id: crypto.randomUUID(), tool_id: 'who', arguments: {} }
  const withoutTimes = ({ status, json }: Received): unknown => [status, { ...json, metadata: undefined }]
  const stolen = await ask({ ...request, session }, 'bob')
  const unknown = await ask({ ...request, session: crypto.randomUUID() }, 'bob')
  expect(stolen.status).toBe(404)
  expect(withoutTimes(stolen)).toEqual(withoutTimes(unknown))
  expect((await ask({ ...request, session }, 'ann')).status).toBe(200)
})

test('a subscription is told only to its session', async () => {
  const { app, port } = await listen(people())
  app.resource('notes://{owner}', {}, ({ owner }) => owner)
  const [ann, bob] = [await openSession(port, 'ann'), await openSession(port, 'bob')]
  const events = await Promise.all(
    [ann, bob].map(async (headers) => {
      await send(port, { body: message('notifications/initialized'), headers })
      return stream(port, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })
    }),
  )
  const uri = 'notes://ann'
  await send(port, { body: message('resources/subscribe', { uri }, 5), headers: ann })
  // Bob cannot end what is not his.
  await send(port, { body: message('resources/unsubscribe', { uri }, 5), headers: bob })
  app.updated(uri)
  await events[0]?.until(() => events[0]?.raw.includes(uri) === true)
  app.changed()
  await events[1]?.until(() => events[1]?.raw.includes('list_changed') === true)
  expect(events[1]?.raw).not.toContain(uri)
})

test('over WebSocket, a subscription is told only to its caller', async () => {
  const { app, port } = await listen(people())
  app.resource('notes://{owner}', {}, ({ owner }) => owner)
  const uri = 'notes://ann'
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((name) => openSocket(port, as(name))))
  for (const socket of [ann, bob]) {
    socket?.write(frame(initialize()))
    await socket?.until(() => socket.texts.length === 1)
    socket?.write(frame(message('notifications/initialized')))
  }
  ann?.write(frame(message('resources/subscribe', { uri }, 5)))
  bob?.write(frame(message('resources/unsubscribe', { uri }, 5)))
  for (const socket of [ann, bob]) await socket?.until(() => socket.texts.length === 2)
  app.updated(uri)
  await ann?.until(() => ann.texts.join().includes(uri))
  app.changed()
  await bob?.until(() => bob.texts.join().includes('list_changed'))
  expect(bob?.texts.slice(2).join()).not.toContain(uri)
})

type Opened = Awaited<ReturnType<typeof stream>>

/** Opens a session over HTTP+SSE; gives its stream, and a function that posts to it. */
async function openSse(
  port: number,
  name: string,
): Promise<{ opened: Opened; post(body: string): Promise<unknown> }> {
  const headers = { accept: 'text/event-stream', ...as(name) }
  const opened = await stream(port, { method: 'GET', path: '/sse', headers })
  await opened.until(() => opened.events.length > 0)
  const path = opened.events[0]?.data as string
  const post = (body: string): Promise<unknown> =>
    send(port, { path, body, headers: { ...BOTH, ...as(name) } })
  await post(initialize('2024-11-05'))
  await opened.until(() => opened.events.length > 1)
  await post(message('notifications/initialized'))
  return { opened, post }
}

test('over HTTP+SSE, a subscription is told only to its caller', async () => {
  const { app, port } = await listen(people())
  app.resource('notes://{owner}', {}, ({ owner }) => owner)
  const uri = 'notes://ann'
  const ann = await openSse(port, 'ann')
  const bob = await openSse(port, 'bob')
  await ann.post(message('resources/subscribe', { uri }, 5))
  await bob.post(message('resources/unsubscribe', { uri }, 5))
  for (const { opened } of [ann, bob]) await opened.until(() => opened.raw.includes('"id":5'))
  app.updated(uri)
  await ann.opened.until(() => ann.opened.raw.includes(uri))
  app.changed()
  await bob.opened.until(() => bob.opened.raw.includes('list_changed'))
  expect(bob.opened.raw).not.toContain(uri)
})

/** Asks; gives the response. */
type Ask = (port: number, name: string, method: string, params: JsonObject) => Promise<Received['json']>

const WAYS: Readonly<Record<string, Ask>> = {
  HTTP: async (port, name, method, params) => {
    const { body, headers } = headed(method, params)
    return (await send(port, { body, headers: { ...headers, ...as(name) } })).json
  },
  WebSocket: async (port, name, method, params) => {
    const socket = await openSocket(port, as(name))
    socket.write(frame(headed(method, params).body))
    await socket.until(() => socket.texts.length === 1)
    return JSON.parse(socket.texts[0] as string) as Received['json']
  },
}

/** Those with cursors: at 2024-11-05 too, which has no sealed state. */
const LISTING: typeof WAYS = {
  ...WAYS,
  'HTTP+SSE': async (port, name, method, params) => {
    const { opened, post } = await openSse(port, name)
    await post(message(method, params, 5))
    await opened.until(() => opened.events.length > 2)
    return JSON.parse(opened.events.at(-1)?.data as string) as Received['json']
  },
}

test.each(Object.entries(LISTING))(
  'over %s, a cursor of another caller leads only to what its user may see',
  async (_, ask) => {
    const { app, port } = await listen(undefined, {}, server(people(), { pageSize: 1 }))
    for (const owner of ['ann', 'bob', 'ann', 'bob'].entries())
      app.tool(`tool-${owner.join('-')}`, { visible: ({ auth }) => auth?.sub === owner[1] }, () => '')
    const list = async (
      token: string,
      cursor?: string,
    ): Promise<{ names: string[]; nextCursor?: string }> => {
      const json = await ask(port, token, 'tools/list', cursor === undefined ? {} : { cursor })
      const { tools, nextCursor } = json['result'] as { tools: { name: string }[]; nextCursor?: string }
      return { names: tools.map(({ name }) => name), ...(nextCursor !== undefined && { nextCursor }) }
    }
    let cursor: string | undefined
    const all: string[] = []
    const foreign: string[] = []
    do {
      const page = await list('bob', cursor)
      all.push(...page.names)
      cursor = page.nextCursor
      foreign.push(...(cursor === undefined ? [] : (await list('ann', cursor)).names))
    } while (cursor !== undefined)
    expect(foreign.length).toBeGreaterThan(0)
    expect(foreign.join()).not.toContain('bob')
    expect(all.filter((name) => name.startsWith('tool-'))).toEqual(['tool-1-bob', 'tool-3-bob'])
  },
)

test.each(Object.entries(WAYS))(
  'over %s, the sealed state of a request is good only for its caller',
  async (_, ask) => {
    const { app, port } = await listen(people())
    app.tool('pay', {}, async (_, { elicit }) => {
      const { content } = await elicit('Sure?', z.object({ sure: z.boolean() }))
      return JSON.stringify(content)
    })
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
    const pay = (token: string, more: object = {}): Promise<Received['json']> =>
      ask(port, token, 'tools/call', { name: 'pay', arguments: {}, ...more, _meta: capabilities })
    const asked = (await pay('ann'))['result'] as { requestState: string; inputRequests: object }
    const inputResponses = Object.fromEntries(
      Object.keys(asked.inputRequests).map((key) => [key, { action: 'accept', content: { sure: true } }]),
    )
    const { requestState } = asked
    const stolen = await pay('bob', { requestState, inputResponses })
    const unknown = await pay('bob', { requestState: `${createApiKey()}${createApiKey()}`, inputResponses })
    expect(stolen).toHaveProperty('error')
    expect(stolen).toEqual(unknown)
    expect(await pay('ann', { requestState, inputResponses })).not.toHaveProperty('error')
  },
)

test('callers with the same subject at different issuers are different', async () => {
  const { port } = await listen(bearer((token) => ({ sub: 'ann', issuer: `https://${token}.example` })))
  const session = await openSession(port, 'one')
  expect((await send(port, { body: call('who'), headers: { ...session, ...as('two') } })).status).toBe(404)
  expect((await send(port, { body: call('who'), headers: session })).status).toBe(200)
})

test('a renewed token of the same caller keeps the session', async () => {
  const { port } = await listen(bearer((token) => ({ sub: 'ann', issuer: 'https://id.example', jti: token })))
  const session = await openSession(port, 'old')
  expect((await send(port, { body: call('who'), headers: { ...session, ...as('new') } })).status).toBe(200)
})
