import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { connect, createClient } from '../../src/client.ts'
import { testAuth } from './core-auth.ts'
import { failure, guarded, logInSlowly, SHORT } from './core-guarded.ts'

const WS = { ws: { port: 0 } }

test('over WebSocket the opening request carries the credentials, and is repeated with others after a 401', async () => {
  const { ws } = await guarded(WS)
  const auth = testAuth('bad', () => 'good')
  const client = await connect(ws, { auth })
  expect(await client.call('who')).toBe('good')
  expect(auth.asked.servers.map(({ url }) => url.href)).toEqual([ws])
  expect(auth.asked.requests).toHaveLength(1)
  expect(auth.asked.requests[0]).toMatchObject({ verb: 'GET', url: new URL(ws.replace('ws:', 'http:')) })
  expect(auth.asked.replies.map(({ status }) => status)).toEqual([401, 101])
  expect(auth.asked.replies[0]?.headers.get('WWW-Authenticate')).toContain('Bearer')
  expect(auth.asked.replies[0]?.headers.get('x-none')).toBe(null)
  await client.close()
  expect(auth.asked.closed).toBe(1)
})

test('without credentials, and if all are rejected, the error has status, challenge and what to do', async () => {
  const { ws } = await guarded(WS)
  for (const [options, hint] of [
    [{}, 'connect(url, { auth: browser() })'],
    [{ auth: testAuth('bad', () => 'worse') }, 'The server rejected the token'],
  ] as const) {
    const error = await failure(connect(ws, options))
    expect(error).toMatchObject({
      kind: 'connect_failed',
      data: { status: 401, wwwAuthenticate: expect.stringContaining('Bearer') },
    })
    expect(error.message).toContain('it answered with HTTP status 401')
    expect(error.hint).toContain(hint)
  }
})

test('a failed login is the error of connecting, and is not repeated', async () => {
  const { ws } = await guarded(WS)
  const auth = testAuth(undefined)
  expect(await failure(connect(ws, { auth }))).toMatchObject({ kind: 'login_failed' })
  expect(auth.asked.renewals).toBe(1)
})

test('credentials that are revoked while the connection is open are renewed on the next one', async () => {
  const { ws, app, valid } = await guarded(WS)
  for (const token of ['anna-1', 'bert-1']) valid.add(token)
  const auth = testAuth('anna-1', () => 'bert-1')
  await using client = await connect(ws, { auth })
  expect(await client.call('who')).toBe('anna')
  valid.delete('anna-1')
  void app.revoke({ sub: 'anna' })
  await expect.poll(() => client.state).not.toBe('ready')
  expect(await client.call('who')).toBe('bert')
  expect(auth.asked.replies.map(({ status }) => status)).toEqual([101, 401, 101])
  expect(auth.asked.servers).toHaveLength(1)
})

test('a login takes none of the time for opening, and can be given up', async () => {
  const { ws } = await guarded(WS)
  const slowly = () => testAuth(undefined, (request) => logInSlowly(request))
  await using client = await connect(ws, { auth: slowly(), ...SHORT })
  expect(await client.call('who')).toBe('good')
  const auth = slowly()
  const leaving = createClient(ws, { auth, ...SHORT })
  const call = failure(leaving.call('who'))
  await expect.poll(() => auth.asked.renewals).toBe(1)
  await leaving.close()
  expect(await call).toMatchObject({ kind: 'closed' })
  expect(auth.asked.requests[0]?.signal.aborted).toBe(true)
})

test('a server that never replies to the opening request does not keep connect longer than its total time', async () => {
  const server = createServer()
  server.on('upgrade', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const auth = testAuth('good')
  const error = await failure(connect(`ws://127.0.0.1:${port}`, { auth, timeout: '5s', total: '200ms' }))
  expect(['timeout', 'connect_failed']).toContain(error.kind)
})

test('a redirect of the opening request is not followed', async () => {
  const shown: unknown[] = []
  const other = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  other.on('connection', (_, request) => shown.push(request.headers.authorization))
  const away = createServer()
  away.on('upgrade', (_, socket) => {
    const { port } = other.address() as AddressInfo
    socket.end(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ws://127.0.0.1:${port}\r\n\r\n`)
  })
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    other.close()
    away.close()
  })
  const { port } = away.address() as AddressInfo
  const error = await failure(
    connect(`ws://127.0.0.1:${port}`, { auth: testAuth('secret'), recovery: false }),
  )
  expect(error).toMatchObject({ kind: 'connect_failed', data: { status: 307 } })
  expect(shown).toEqual([])
})

test('credentials in headers and in auth contradict each other, and calls bring none of their own', async () => {
  const { ws } = await guarded(WS)
  const auth = testAuth('good')
  const both = connect(ws, { auth, headers: { authorization: 'Bearer x' } })
  expect((await failure(both)).message).toContain('give only one of the two')
  await using client = await connect(ws, { auth })
  expect((await failure(client.call('who', {}, { auth }))).message).toContain('it applies only to HTTP')
})
