import { expect, onTestFinished, test } from 'vitest'
import { browser, memoryVault, type BrowserOptions } from '../../src/auth-client.ts'
import { devAuth, type DevAuth } from '../../src/auth-dev.ts'
import { connect, type ConnectOptions } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { failure } from './core-guarded.ts'

interface Served {
  readonly dev: DevAuth
  readonly http: string
  readonly ws: string
  /** The pages that were opened. */
  readonly pages: URL[]
  login(options?: BrowserOptions): ReturnType<typeof browser>
}

/** Serves tools that need more than one scope, for one test. */
async function serve(): Promise<Served> {
  const dev = await devAuth({ port: 0, scopes: ['read'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1', auth: dev, log: () => undefined })
    .tool('who', {}, (_, { auth }) => `${auth?.sub} ${auth?.scopes?.toSorted().join(' ')}`)
    .tool('write', { scopes: ['write'] }, (_, { auth }) => `${auth?.scopes?.toSorted().join(' ')}`)
    .tool('erase', { scopes: ['erase'] }, (_, { auth }) => `${auth?.scopes?.toSorted().join(' ')}`)
    .tool('rule', { scopes: ['nobody:has'] }, () => 'unreachable')
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0, sse: true }, ws: true })
  onTestFinished(() => running.close())
  const pages: URL[] = []
  const login: Served['login'] = (options) =>
    browser({
      vault: memoryVault(),
      open: (page) => {
        pages.push(page)
        return dev.login(page, { sub: 'alice' })
      },
      ...options,
    })
  return { dev, http: running.url as string, ws: running.addresses.ws as string, pages, login }
}

const WAYS: readonly (readonly [string, (served: Served) => string, ConnectOptions])[] = [
  ['HTTP', ({ http }) => http, {}],
  ['HTTP at 2024-11-05', ({ http }) => http, { revision: '2024-11-05' }],
  ['HTTP+SSE', ({ http }) => http.replace('/mcp', '/sse'), {}],
  ['WebSocket at 2026-07-28', ({ ws }) => ws, { revision: '2026-07-28' }],
  ['WebSocket at 2025-06-18', ({ ws }) => ws, { revision: '2025-06-18' }],
]

/** The transports whose answers come elsewhere than the reply to a request. */
const APART: readonly (readonly [string, (served: Served) => string])[] = [
  ['WebSocket', ({ ws }) => ws],
  ['HTTP+SSE', ({ http }) => http.replace('/mcp', '/sse')],
]

test.each(WAYS)(
  'over %s, a call that lacks a scope logs in for it, once for all',
  async (_, urlOf, options) => {
    const served = await serve()
    const { pages } = served
    await using client = await connect(urlOf(served), { ...options, auth: served.login() })
    expect(await client.call('who')).toBe('alice read')
    expect(pages).toHaveLength(1)
    expect(await Promise.all([client.call('write'), client.call('write')])).toEqual([
      'read write',
      'read write',
    ])
    expect(pages).toHaveLength(2)
    expect(await client.call('erase')).toBe('erase read write')
    expect(await client.call('who')).toBe('alice erase read write')
    expect(pages).toHaveLength(3)
  },
)

test('over WebSocket, calls that fail after another step-up has ended do not ask again', async () => {
  const served = await serve()
  await using client = await connect(served.ws, { auth: served.login() })
  const calls = Array.from({ length: 20 }, () => client.call('write'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['read write']))
  expect(served.pages).toHaveLength(2)
})

test.each(APART)(
  'over %s, a step-up that is denied is the error of the call, and others go on',
  async (_, urlOf) => {
    const served = await serve()
    const { dev, login } = served
    let isWilling = true
    const open = (page: URL): Promise<string> => dev.login(page, isWilling ? { sub: 'alice' } : 'deny')
    await using client = await connect(urlOf(served), { auth: login({ open }) })
    isWilling = false
    expect(await failure(client.call('write'))).toMatchObject({ kind: 'login_failed' })
    expect(await client.call('who')).toBe('alice read')
  },
)

test.each(APART)(
  'over %s, a scope that nobody gets is requested a limited number of times',
  async (_, urlOf) => {
    const served = await serve()
    const { dev, login, pages } = served
    const open = (page: URL): Promise<string> => {
      pages.push(page)
      return dev.login(page, { sub: 'alice', scopes: ['read', 'write'] })
    }
    await using client = await connect(urlOf(served), { auth: login({ open }) })
    for (let calls = 0; calls < 6; calls++) {
      const error = await failure(client.call('rule'))
      expect(error).toMatchObject({ kind: 'insufficient_scope', data: { scopes: ['nobody:has'] } })
    }
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.length).toBeLessThanOrEqual(4)
    expect(await client.call('who')).toBe('alice read')
  },
)

test('over WebSocket without auth or recovery, a missing scope is an error as ever', async () => {
  const { ws, dev, login, pages } = await serve()
  const authorization = `Bearer ${await dev.token({ sub: 'bob' })}`
  await using plain = await connect(ws, { headers: { authorization } })
  expect(await failure(plain.call('write'))).toMatchObject({ kind: 'insufficient_scope' })
  await using still = await connect(ws, { auth: login(), recovery: false })
  expect(await failure(still.call('write'))).toMatchObject({ kind: 'insufficient_scope' })
  expect(pages).toHaveLength(1)
})
