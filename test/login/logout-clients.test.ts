import { expect, onTestFinished, test } from 'vitest'
import { browser, type LoginMethod } from '../../src/auth-client.ts'
import { devAuth } from '../../src/auth-dev.ts'
import type { Duration } from '../../src/base/duration.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { connect, type Client } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { WAYS } from './ways.ts'

interface Served {
  readonly auth: LoginMethod
  readonly url: string
  /** The users who logged in. */
  readonly logins: string[]
  /** The user who logs in next. */
  next: string
  /** Resolves when a note is read slowly, and lets that go on. */
  readonly slow: Deferred<() => void>
}

/** A server to which people log in, for one test. */
async function serve(transport: 'http' | 'ws', tokenTtl: Duration = '1h'): Promise<Served> {
  const dev = await devAuth({ port: 0, scopes: ['read'], tokenTtl })
  onTestFinished(() => dev.close())
  const slow = new Deferred<() => void>()
  const app = createServer({ name: 'notes', version: '1', ttl: '1h', auth: dev, log: () => undefined })
    .tool('who', {}, (_, { auth }) => auth?.sub ?? 'nobody')
    .resource('note://mine', {}, (_, { auth }) => `of ${auth?.sub}`)
    .resource('note://slow', {}, async (_, { auth }) => {
      if (auth?.sub === 'alice') await new Promise<void>((resolve) => slow.resolve(resolve))
      return `of ${auth?.sub}`
    })
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0, sse: true }, ws: true })
  onTestFinished(() => running.close())
  const logins: string[] = []
  const served = { url: running.addresses[transport] as string, logins, next: 'alice', slow }
  const open = (page: URL): Promise<string> => {
    logins.push(served.next)
    return dev.login(page, { sub: served.next })
  }
  return Object.assign(served, { auth: browser({ open }) })
}

async function read(client: Client, uri = 'note://mine'): Promise<unknown> {
  return (await client.read(uri)).contents[0]
}

test.each(WAYS)(
  'over %s, an open client has nothing of a user who logged out',
  async (_, transport, options) => {
    const served = await serve(transport)
    await using client = await connect(served.url, { ...options, auth: served.auth })
    expect(await read(client)).toMatchObject({ text: 'of alice' })
    await served.auth.logout(served.url)
    served.next = 'bob'
    expect(await read(client)).toMatchObject({ text: 'of bob' })
    expect(await client.call('who')).toBe('bob')
    expect(served.logins).toEqual(['alice', 'bob'])
  },
)

test.each(WAYS)(
  'over %s, a result that arrives after the logout is not cached',
  async (_, transport, options) => {
    const served = await serve(transport)
    await using client = await connect(served.url, { ...options, auth: served.auth })
    const reading = read(client, 'note://slow')
    const go = await served.slow.promise
    await served.auth.logout(served.url)
    go()
    expect(await reading).toMatchObject({ text: 'of alice' })
    served.next = 'bob'
    expect(await read(client, 'note://slow')).toMatchObject({ text: 'of bob' })
  },
)

test.each(WAYS)(
  'over %s, a subscription waits for the next login and does not ask for it',
  async (_, transport, options) => {
    const served = await serve(transport)
    await using client = await connect(served.url, { ...options, auth: served.auth })
    const changed = new Deferred<void>()
    const states: string[] = []
    const end = await client.subscribe('note://mine', () => changed.resolve())
    client.on('state', (state) => states.push(state))
    await served.auth.logout(served.url)
    expect(client.state).toBe('connecting')
    served.next = 'bob'
    expect(await client.call('who')).toBe('bob')
    await changed.promise
    expect(served.logins).toEqual(['alice', 'bob'])
    expect(states).toEqual(['connecting', 'ready'])
    await end()
  },
)

test.each(WAYS.slice(0, 3))(
  'over %s, a refreshed token keeps the connection and the session',
  async (_, transport, options) => {
    const served = await serve(transport, '2s')
    const tokens = new Set<string | null>()
    const sessions = new Set<string | null>()
    const fetching: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      if (typeof init?.body === 'string' && init.body.includes('tools/call')) {
        tokens.add(headers.get('authorization'))
        sessions.add(headers.get('mcp-session-id'))
      }
      return fetch(input, init)
    }
    await using client = await connect(served.url, { ...options, auth: served.auth, fetch: fetching })
    const states: string[] = []
    client.on('state', (state) => states.push(state))
    while (tokens.size < 2) expect(await client.call('who')).toBe('alice')
    expect([sessions.size, states, served.logins]).toEqual([1, [], ['alice']])
  },
)
