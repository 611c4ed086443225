import { connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { apiKeys, digestApiKey, oauth } from '../../src/auth.ts'
import { createMethod } from '../../src/auth/method.ts'
import type { App } from '../../src/index.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { frame } from '../ws/raw.ts'
import { open as openSocket } from '../ws/server.ts'
import { as, callTool, listen, RESOURCE, server } from './server.ts'
import { startSmallIssuer } from './small-issuer.ts'

const KEY = 'a-long-key'

afterEach(() => {
  vi.restoreAllMocks()
})

async function keys(): Promise<ReturnType<typeof apiKeys>> {
  return apiKeys({ digests: { [await digestApiKey(KEY)]: 'ann' } })
}

/** Sends a request in two parts, and runs `between` after the first. Returns the first line of the reply. */
async function sendSlowly(
  { port, path = '/mcp' }: { readonly port: number; readonly path?: string },
  { body, headers }: ReturnType<typeof headed>,
  between: () => unknown,
): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const head = { ...headers, host: `127.0.0.1:${port}`, 'content-length': String(body.length), ...as(KEY) }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
  socket.write([`POST ${path} HTTP/1.1`, ...lines, 'expect: 100-continue', '', ''].join('\r\n'))
  const [first] = (await once(socket, 'data')) as [Buffer]
  if (!String(first).startsWith('HTTP/1.1 100 ')) return String(first)
  socket.write(body.slice(0, 5))
  await between()
  socket.write(body.slice(5))
  const [reply] = (await once(socket, 'data')) as [Buffer]
  return String(reply).split('\r\n', 1)[0] as string
}

test.each([
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
  ['tools/call', { name: 'who' }],
])('a caller that is revoked while the body of %s arrives is rejected', async (method, params) => {
  const { app, port } = await listen(await keys())
  expect(await sendSlowly({ port }, headed(method, params), () => undefined)).toBe('HTTP/1.1 200 OK')
  expect(await sendSlowly({ port }, headed(method, params), () => app.revoke({ sub: 'ann' }))).toBe(
    'HTTP/1.1 401 Unauthorized',
  )
})

test.each([true, false])(
  'a caller that is revoked while a batch runs has the rest of it rejected (with sessions: %s)',
  async (sessions) => {
    const app = server(await keys())
    const ran: string[] = []
    const notice = vi.spyOn(serviceOf(app), 'notice')
    app
      .tool('first', {}, () => {
        ran.push('first')
        void app.revoke({ sub: 'ann' })
        return 'done'
      })
      .tool('second', {}, () => void ran.push('second'))
    const { url } = await listen(undefined, { sessions }, app)
    const headers = { ...BOTH, 'mcp-protocol-version': '2025-03-26', ...as(KEY) }
    const opened = await fetch(url, { method: 'POST', body: initialize('2025-03-26'), headers })
    const id = opened.headers.get('mcp-session-id')
    const rest = [call('second', {}, 2), message('notifications/initialized'), call('second', {}, 3)]
    const body = `[${[call('first', {}, 1), ...rest].join(',')}]`
    const reply = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...headers, ...(id !== null && { 'mcp-session-id': id }) },
    })
    expect(await reply.json()).toMatchObject([
      { id: 1 },
      { id: 2, error: { message: 'the token is not accepted: it was revoked' } },
      { id: 3, error: { message: 'the token is not accepted: it was revoked' } },
    ])
    expect(ran).toEqual(['first'])
    expect(notice).not.toHaveBeenCalled()
  },
)

test('a stream that opens after its caller was revoked ends at once', async () => {
  let answer: () => void = () => undefined
  let isAsked = false
  const app = server(await keys()).tool('slow', {}, async (_, { progress, signal }) => {
    isAsked = true
    await new Promise<void>((resolve) => (answer = resolve))
    progress(1)
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return 'done'
  }) as unknown as App
  const { url } = await listen(undefined, {}, app)
  const { body, headers } = headed('tools/call', { name: 'slow', _meta: { progressToken: 1 } })
  const asking = fetch(url, { method: 'POST', body, headers: { ...headers, ...as(KEY) } })
  await expect.poll(() => isAsked).toBe(true)
  void app.revoke({ sub: 'ann' })
  answer()
  expect(await (await asking).text()).not.toContain('done')
})

test('a caller that is revoked while its proof is checked is rejected', async () => {
  const confirmed: (() => void)[] = []
  const auth = createMethod({
    name: 'bound',
    resource: undefined,
    issuers: [],
    scopes: [],
    includes: {},
    metadata: {},
    verify: () => ({
      auth: { sub: 'ann' },
      confirm: () => new Promise<undefined>((resolve) => confirmed.push(() => resolve(undefined))),
    }),
  })
  const { app, url } = await listen(auth)
  const reply = callTool(url, 'who', as('bound'))
  await expect.poll(() => confirmed.length).toBe(1)
  void app.revoke({ sub: 'ann' })
  confirmed[0]?.()
  expect((await reply).status).toBe(401)
})

test('a token of an issuer whose clock is ahead is rejected after a revocation', async () => {
  const issuer = await startSmallIssuer(RESOURCE)
  onTestFinished(() => issuer.close())
  const { app, url } = await listen(oauth({ issuer: issuer.url, resource: RESOURCE }))
  const now = Math.floor(Date.now() / 1000)
  const token = await issuer.sign({ iat: now + 30 })
  expect((await callTool(url, 'who', as(token))).status).toBe(200)
  void app.revoke({ sub: 'ada' })
  expect((await callTool(url, 'who', as(token))).status).toBe(401)
  const later = await issuer.sign({ iat: now + 90 })
  vi.spyOn(Date, 'now').mockReturnValue((now + 91) * 1000)
  expect((await callTool(url, 'who', as(later))).status).toBe(200)
})

test.each([
  ['whose connection broke', { 'last-event-id': '0' }, 'destroy'],
  ['that does not answer the close frame', { 'last-event-id': '0' }, 'pause'],
  ['that cannot resume and does not answer the close frame', {}, 'pause'],
] as const)(
  'A.revoked-away revoking a caller cancels the requests of a WebSocket client %s',
  async (_, resumable, stop) => {
    const cancelled: string[] = []
    let isRunning = false
    const app = server(await keys()).tool('slow', {}, async (_input, { signal }) => {
      isRunning = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      cancelled.push('slow')
      return ''
    }) as App
    const { port } = await listen(undefined, {}, app)
    const ann = await openSocket(port, { ...as(KEY), ...resumable })
    ann.write(frame(initialize()))
    await ann.until(() => ann.texts.length === 1)
    ann.write(frame(message('notifications/initialized')))
    ann.write(frame(call('slow')))
    await expect.poll(() => isRunning).toBe(true)
    ann.socket[stop]()
    // The server has noticed what happened before it serves the next connection.
    await openSocket(port, as(KEY))
    void app.revoke({ sub: 'ann' })
    // At once: the time for the closing handshake does not count.
    await new Promise((resolve) => setImmediate(resolve))
    expect(cancelled).toEqual(['slow'])
  },
)
