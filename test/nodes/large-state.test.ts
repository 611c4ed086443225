import { expect, test } from 'vitest'
import { z } from 'zod'
import { bearer } from '../../src/auth.ts'
import type { App } from '../../src/index.ts'
import type { EventStore, SessionStore } from '../../src/stores.ts'
import { BOTH, call, initialize, message } from '../http/messages.ts'
import { open, Session } from '../http/server.ts'
import { send } from '../http/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openSocket } from '../ws/server.ts'
import { at, startNodes, type ClusterOptions, type TestNode } from './nodes.ts'

const LARGE = 'x'.repeat(8000)
const URIS = 20
const TOKEN = { progressToken: 't' }

function define(app: App): void {
  app
    .resource('note://{name}', {}, () => 'a')
    .tool('keep', {}, async (_, { session }) => {
      await session?.set('count', ((await session.get<number>('count')) ?? 0) + 1)
      return String(await session?.get('count'))
    })
    .tool('large', { input: z.object({ size: z.number() }) }, ({ size }, { progress }) => {
      progress(1, 2)
      return 'é'.repeat(size)
    })
}

interface Started {
  readonly one: TestNode
  readonly two: TestNode
  readonly sessions: SessionStore
  readonly events: EventStore
  /** How many characters of sessions and events the nodes have read since the last call. */
  read(): { readonly sessions: number; readonly events: number }
}

async function start(options: ClusterOptions = {}): Promise<Started> {
  const { nodes, stores } = await startNodes({ define, ...options })
  const { sessions, events } = stores.kinds
  const [use, page] = [sessions.use.bind(sessions), events.read.bind(events)]
  const counts = { sessions: 0, events: 0 }
  sessions.use = async (...args) => {
    const used = await use(...args)
    for (const [name, text] of [...(used?.fields ?? []), ...(used?.changes ?? [])])
      counts.sessions += name.length + (text?.length ?? 0)
    return used
  }
  events.read = async (...args) => {
    const found = await page(...args)
    for (const { text } of found?.events ?? []) counts.events += text.length
    return found
  }
  const read = (): typeof counts => {
    const now = { ...counts }
    Object.assign(counts, { sessions: 0, events: 0 })
    return now
  }
  return { one: nodes[0] as TestNode, two: nodes[1] as TestNode, sessions, events, read }
}

/** A session with large subscriptions. */
async function opened({ port }: TestNode, more: Record<string, string> = {}): Promise<Session> {
  const headers = { ...BOTH, ...more, 'mcp-protocol-version': '2025-06-18' }
  const reply = await send(port, { body: initialize('2025-06-18'), headers })
  const session = new Session(port, { ...headers, 'mcp-session-id': String(reply.headers['mcp-session-id']) })
  await session.post(message('notifications/initialized'))
  for (let nth = 0; nth < URIS; nth++)
    await session.post(message('resources/subscribe', { uri: `note://${nth}${LARGE}` }, nth + 2))
  return session
}

test('a small change of a large session does not make another node read all of it', async () => {
  const { one, two, read } = await start()
  const session = await opened(one)
  const elsewhere = at(two, session)
  expect((await elsewhere.post(message('ping', {}, 1))).status).toBe(200)
  expect(read().sessions).toBeGreaterThan(URIS * LARGE.length)
  for (let round = 0; round < 40; round++) {
    const method = round % 2 === 0 ? 'resources/subscribe' : 'resources/unsubscribe'
    expect((await session.post(message(method, { uri: 'note://x' }, 1))).status).toBe(200)
    expect((await elsewhere.post(message('ping', {}, 1))).status).toBe(200)
    // Both nodes change it, too.
    for (const [which, side] of [session, elsewhere].entries()) {
      const reply = await side.post(call('keep', {}, 2))
      expect(reply.json).toMatchObject({
        result: { content: [{ text: `${2 * round + which + 1}` }] },
      })
    }
  }
  expect(read().sessions).toBeLessThan(URIS * LARGE.length)
})

test('the session of another transport or caller is neither read nor prolonged', async () => {
  const auth = bearer((token) => ({ sub: token, scopes: [] }))
  const { one, two, sessions, read } = await start({ auth, listen: { http: { port: 0, sse: true } } })
  const session = await opened(one, { authorization: 'Bearer ann' })
  const post = (path: string, token: string, more: Record<string, string> = {}): ReturnType<typeof send> =>
    send(two.port, {
      path,
      body: message('ping', {}, 1),
      headers: { ...BOTH, authorization: `Bearer ${token}`, ...more },
    })
  const own = { 'mcp-session-id': session.id, 'mcp-protocol-version': '2025-06-18' }
  read()
  const times: number[] = []
  const use = sessions.use
  sessions.use = async (id, known, idleMs, expected) => {
    const used = await use(id, known, idleMs, expected)
    if (used !== undefined) times.push(idleMs)
    return used
  }
  for (let round = 0; round < 3; round++) {
    expect((await post(`/messages?sessionId=${session.id}`, 'ann')).status).toBe(404)
    expect((await post('/mcp', 'bob', own)).status).toBe(404)
  }
  expect([read().sessions, times]).toEqual([0, []])
  expect((await post('/mcp', 'ann', own)).status).toBe(200)
  expect(times).toHaveLength(1)
})

test('a large event is read once by clients that resume its stream and leave, and each gets the same', async () => {
  const { one, two, events, read } = await start()
  const session = await open(one.port)
  await session.post(message('notifications/initialized'))
  const size = 300_000
  const first = await (await session.stream(call('large', { size }, 2, TOKEN))).end()
  const ids = first.events.map(({ id }) => id as string)
  const [name] = (ids[0] as string).split('_') as [string]
  await expect.poll(async () => (await events.head(session.id, name))?.isOver).toBe(true)
  read()
  const elsewhere = at(two, session)
  for (let round = 0; round < 5; round++) (await elsewhere.get(ids[0])).drop()
  // The last event is not sent, and only compared.
  for (let round = 0; round < 5; round++) expect((await elsewhere.get(ids.at(-1))).status).toBe(204)
  for (let round = 0; round < 5; round++) {
    const again = await (await elsewhere.get(ids[0])).end()
    expect(again.events).toEqual(first.events.slice(1))
  }
  expect(read().events).toBeLessThan(8 * size)
})

test('a WebSocket that resumes again and again, at one node and another, reads a large message seldom', async () => {
  const { one, two, read } = await start({ listen: { http: { port: 0 }, ws: true } })
  const size = 300_000
  const first = await openSocket(one.port, { 'last-event-id': '0' })
  const id = /^mcp-session-id: (.*)$/im.exec(first.head)?.[1]?.trim() as string
  first.write(frame(initialize('2025-06-18')))
  await first.until(() => first.texts.length === 1)
  first.write(frame(message('notifications/initialized')))
  first.write(frame(call('large', { size }, 2)))
  await first.until(() => first.texts.length === 2)
  read()
  for (let round = 0; round < 8; round++) {
    const resumed = await openSocket([two, one][round % 2]!.port, {
      'last-event-id': '1',
      'mcp-session-id': id,
    })
    await resumed.until(() => resumed.texts.length === 1)
    expect(resumed.texts).toEqual(first.texts.slice(1))
  }
  expect(read().events).toBeLessThan(7 * size)
})
