import { once } from 'node:events'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import { browser, memoryVault } from 'pierhead/auth/client'
import { devAuth, type DevAuth } from 'pierhead/auth/dev'
import { connect, type ConnectOptions } from 'pierhead/client'

interface Served {
  readonly dev: DevAuth
  readonly http: string
  readonly ws: string
}

/** Serves a protected server over HTTP, HTTP+SSE and WebSocket for one test. */
async function serve(): Promise<Served> {
  const dev = await devAuth({ port: 0, scopes: ['notes'] })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => `${ctx.auth?.sub} ${ctx.auth?.scopes?.join(' ')}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0, sse: true }, ws: true })
  onTestFinished(() => running.close())
  return { dev, http: running.url as string, ws: running.addresses.ws as string }
}

const WAYS: readonly (readonly [string, (served: Served) => string, ConnectOptions])[] = [
  ['HTTP at 2026-07-28', ({ http }) => http, { revision: '2026-07-28' }],
  ['HTTP at 2025-11-25', ({ http }) => http, { revision: '2025-11-25' }],
  ['HTTP at 2025-03-26', ({ http }) => http, { revision: '2025-03-26' }],
  ['HTTP+SSE', ({ http }) => http, { revision: '2024-11-05' }],
  ['WebSocket', ({ ws }) => ws, {}],
]

test.each(WAYS)('a login over %s, and a later connection with what is stored', async (_, urlOf, options) => {
  const served = await serve()
  const { dev } = served
  const vault = memoryVault()
  let pages = 0
  const auth = browser({
    vault,
    open: (page) => {
      pages++
      return dev.login(page, { sub: 'alice' })
    },
  })
  {
    await using client = await connect(urlOf(served), { ...options, auth })
    expect(await client.call('whoami', {})).toBe('alice notes')
  }
  await using later = await connect(urlOf(served), { ...options, auth: browser({ vault, storedOnly: true }) })
  expect(await later.call('whoami', {})).toBe('alice notes')
  expect(pages).toBe(1)
})

test('if resource is the whole site, clients log in at /sse as well as at /mcp', async () => {
  const socket = createSocket().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  await new Promise((done) => socket.close(done))
  const site = `http://127.0.0.1:${port}`
  const dev = await devAuth({ port: 0, resource: site })
  onTestFinished(() => dev.close())
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => ctx.auth?.sub)
  const running = await app.listen({ onUncaught: 'exit', http: { port, sse: true } })
  onTestFinished(() => running.close())
  for (const path of ['/sse', '/mcp']) {
    const auth = browser({ open: (page) => dev.login(page, { sub: 'alice' }) })
    await using client = await connect(`${site}${path}`, { auth })
    expect(await client.call('whoami', {})).toBe('alice')
  }
})

test('a failed login is the error of connect', async () => {
  const served = await serve()
  const auth = browser({ open: (page) => served.dev.login(page, 'deny') })
  const error = await connect(served.http, { auth }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'login_failed', message: expect.stringContaining('access_denied') })
})
