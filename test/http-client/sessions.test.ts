import { expect, onTestFinished, test, vi } from 'vitest'
import { defineAuth } from '../../src/auth/client/define-auth.ts'
import { connectHttp, type HttpConnectOptions } from '../../src/transport/http/client/client.ts'
import { ask, failure, handshake, json, open, QUICK, result, serve, shake, until } from './peer.ts'

const LIMIT = {
  limits: {
    clientBytes: 1000,
    depth: 64,
    clientUnparsedBytes: 10_000_000,
    clientInvalid: 1000,
    values: 1000,
    keys: 1000,
    containers: 1000,
    batch: 100,
  },
}

test('a message that the server does not take is given up after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let aborted = 0
  const fetch: typeof globalThis.fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        aborted++
        reject(init.signal?.reason as Error)
      })
    })
  const { line } = await open('http://localhost/mcp', { fetch })
  const sent = failure(line.send('{"jsonrpc":"2.0","method":"notifications/x"}'))
  await vi.advanceTimersByTimeAsync(59_999)
  expect(aborted).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(aborted).toBe(1)
  expect(await sent).toMatchObject({ kind: 'timeout' })
})

test('the session id and the revision go with everything after the handshake [R083] [R088]', async () => {
  const peer = await serve((seen, response) => {
    if (handshake(seen, response)) return
    if (seen.verb === 'GET') response.writeHead(405).end()
    else json(response, result(seen.message.id))
  })
  const opened = await open(peer.url, { headers: { Authorization: 'Bearer t', Accept: 'text/html' } })
  await shake(opened)
  await ask(opened.line, 'tools/list')
  void opened.line.listen?.()
  await until(() => peer.of('GET').length === 1)
  await opened.line.close()
  const [first, ...others] = peer.seen
  expect(first!.headers['mcp-session-id']).toBeUndefined()
  expect(first!.headers['mcp-protocol-version']).toBeUndefined()
  expect(others.map(({ verb }) => verb)).toEqual(['POST', 'POST', 'GET', 'DELETE'])
  for (const { headers } of others) {
    expect(headers['mcp-session-id']).toBe('one')
    expect(headers['mcp-protocol-version']).toBe('2025-11-25')
  }
  for (const { headers } of peer.seen) {
    expect(headers['authorization']).toBe('Bearer t')
    expect(headers['accept']).not.toContain('html')
  }
})

test('at 2026-07-28 there is neither session nor GET nor DELETE [R130]', async () => {
  const peer = await serve(({ message }, response) =>
    json(response, result(message.id), 200, { 'mcp-session-id': 'x' }),
  )
  const { line } = await open(peer.url)
  const headers = { 'mcp-protocol-version': '2026-07-28', 'Mcp-Method': 'server/discover' }
  await ask(line, 'server/discover', { headers })
  line.agree('2026-07-28')
  await ask(line, 'tools/list', {
    headers: { ...headers, 'Mcp-Method': 'tools/list', 'Mcp-Session-Id': 'mine' },
  })
  void line.listen?.()
  await line.close()
  expect(peer.seen.length).toBe(2)
  expect(peer.seen.map((seen) => seen.headers['mcp-protocol-version'])).toEqual(['2026-07-28', '2026-07-28'])
  expect(peer.seen[1]!.headers).toMatchObject({ 'mcp-method': 'tools/list' })
  expect(peer.seen[1]!.headers['mcp-session-id']).toBeUndefined()
})

test('a session that the server forgot is lost once, and nothing more is sent for it [R086] [C.404-loop]', async () => {
  const peer = await serve((seen, response) => {
    if (!handshake(seen, response))
      json(response, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no' } }, 404)
  })
  const opened = await open(peer.url)
  await shake(opened)
  const { line, downs } = opened
  await expect(ask(line, 'tools/list')).rejects.toMatchObject({ kind: 'session_lost' })
  expect(downs).toMatchObject([{ kind: 'session_lost' }])
  for (let n = 0; n < 20; n++) await expect(ask(line, 'x')).rejects.toMatchObject({ kind: 'session_lost' })
  await expect(line.send('{}')).rejects.toMatchObject({ kind: 'session_lost' })
  await line.close()
  expect(peer.seen.length).toBe(3)
  expect(downs.length).toBe(1)
})

test('a lost session leaves requests alone that are being answered', async () => {
  let finish = (): void => undefined
  const peer = await serve((seen, response) => {
    if (handshake(seen, response)) return
    if (seen.message.method === 'slow') finish = () => json(response, result(seen.message.id))
    else response.writeHead(404).end()
  })
  const opened = await open(peer.url)
  await shake(opened)
  const slow = ask(opened.line, 'slow')
  await until(() => peer.seen.some(({ message }) => message.method === 'slow'))
  await expect(ask(opened.line, 'other')).rejects.toMatchObject({ kind: 'session_lost' })
  expect(opened.downs).toEqual([])
  finish()
  expect((await slow).result).toEqual({ done: true })
  expect(opened.downs.length).toBe(1)
})

test('requests on a lost session that is closed may have run: their answers are lost', async () => {
  const peer = await serve((seen, response) => {
    if (!handshake(seen, response) && seen.message.method === 'gone') response.writeHead(404).end()
  })
  const opened = await open(peer.url)
  await shake(opened)
  const slow = failure(ask(opened.line, 'slow'))
  await until(() => peer.seen.some(({ message }) => message.method === 'slow'))
  await expect(ask(opened.line, 'gone')).rejects.toMatchObject({ kind: 'session_lost' })
  await opened.line.close()
  expect(await slow).toMatchObject({ kind: 'stream_lost' })
  expect(peer.of('DELETE')).toEqual([])
  await expect(ask(opened.line, 'later')).rejects.toMatchObject({ kind: 'session_lost' })
})

test('404 without a session does not mean an expired session', async () => {
  const peer = await serve((_, response) => response.writeHead(404).end())
  const { line } = await open(peer.url)
  await expect(ask(line, 'initialize')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 404 } })
  line.agree('2026-07-28')
  await expect(ask(line, 'x')).rejects.toMatchObject({ kind: 'http_failed', data: { status: 404 } })
})

test('a session id that no header can carry ends the connection [C.session-odd]', async () => {
  for (const id of ['a b', 'a\tb', 'caf\u00e9', 'x'.repeat(2000), '']) {
    const peer = await serve((seen, response) => void handshake(seen, response, id))
    const { line } = await open(peer.url)
    await expect(ask(line, 'initialize')).rejects.toMatchObject({ kind: 'connect_failed' })
    await line.close()
    expect(peer.seen.length).toBe(1)
  }
})

test('headers that would break or replace those of the protocol are refused before anything is sent [C.xheader]', async () => {
  const peer = await serve(({ message }, response) => json(response, result(message.id)))
  for (const headers of [
    { 'X-A': 'b\r\nEvil: yes' },
    { 'X-A': 'b\n' },
    { 'X A': 'b' },
    { 'MCP-Session-Id': 'mine' },
    { 'mcp-param-x': '1' },
    { 'X-A': '\u{1f600}' },
  ]) {
    expect(() => connectHttp(peer.url, { ...LIMIT, headers })).toThrow(
      expect.objectContaining({ kind: 'bad_option' }),
    )
  }
  const { line } = await open(peer.url)
  const injected = { 'Mcp-Param-City': 'Oslo\r\nEvil: yes' }
  await expect(ask(line, 'tools/call', { headers: injected })).rejects.toMatchObject({ kind: 'bad_option' })
  expect(peer.seen.length).toBe(0)
})

/** A client whose credentials are made for every request. */
function authorized(
  url: string,
  credentials: () => Promise<Record<string, string>>,
): Pick<HttpConnectOptions, 'owner'> {
  const auth = defineAuth({
    name: 'function',
    open: () => ({ attempt: async (_, send) => send(await credentials()) }),
  })
  return { owner: { url: new URL(url), auth } }
}

test('credentials are made for every request', async () => {
  const peer = await serve(({ message }, response) => json(response, result(message.id)))
  let n = 0
  const { line } = await open(
    peer.url,
    authorized(peer.url, () => Promise.resolve({ authorization: `Bearer ${++n}` })),
  )
  await ask(line, 'ping')
  await ask(line, 'ping')
  expect(peer.seen.map(({ headers }) => headers['authorization'])).toEqual(['Bearer 1', 'Bearer 2'])
})

test('credentials that never arrive do not keep the caller waiting', async () => {
  const peer = await serve((seen, response) => void handshake(seen, response))
  let stuck = false
  const headers = (): Promise<Record<string, string>> =>
    stuck ? new Promise(() => undefined) : Promise.resolve({})
  const opened = await open(peer.url, authorized(peer.url, headers))
  await shake(opened)
  stuck = true
  const abort = new AbortController()
  const waiting = failure(ask(opened.line, 'tools/call', { signal: abort.signal }))
  const sending = failure(opened.line.send('{}'))
  abort.abort(new Error('enough'))
  expect(await waiting).toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
  await opened.line.close()
  expect(await sending).toMatchObject({ kind: 'closed' })
})

test('a session that is lost ends the stream for notifications without a word about it', async () => {
  const peer = await serve((seen, response) => {
    if (handshake(seen, response)) return
    if (seen.verb === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    else response.writeHead(404).end()
  })
  const opened = await open(peer.url)
  await shake(opened)
  void opened.line.listen?.()
  await until(() => peer.of('GET').length === 1)
  await expect(ask(opened.line, 'tools/call')).rejects.toMatchObject({ kind: 'session_lost' })
  await peer.of('GET')[0]!.gone
  expect(opened.downs.length).toBe(1)
  expect(opened.notes).toEqual([])
})

test('only http and https URLs without credentials are connected to', () => {
  for (const url of [
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
    'nonsense',
    'http://a:b@127.0.0.1/',
  ]) {
    expect(() => connectHttp(url, LIMIT)).toThrow(expect.objectContaining({ kind: 'bad_option' }))
  }
})

test('closing ends the session, whatever the server says to that [R087]', async () => {
  for (const status of [200, 204, 404, 405, 500]) {
    const peer = await serve((seen, response) => {
      if (seen.verb === 'DELETE') response.writeHead(status).end()
      else handshake(seen, response)
    })
    const opened = await open(peer.url)
    await shake(opened)
    await Promise.all([opened.line.close(), opened.line.close()])
    expect(peer.of('DELETE').length).toBe(1)
    expect(opened.downs).toEqual([])
  }
})

test('closing does not wait long for a server that hangs, and ends everything under way', async () => {
  const peer = await serve((seen, response) => {
    if (seen.verb === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    else if (seen.verb === 'POST') handshake(seen, response)
  })
  const opened = await open(peer.url, { reconnect: QUICK })
  await shake(opened)
  void opened.line.listen?.()
  const waiting = failure(ask(opened.line, 'tools/call'))
  await until(() => peer.seen.length === 4)
  await opened.line.close()
  expect(await waiting).toMatchObject({ kind: 'closed' })
  await Promise.all(peer.seen.map(({ gone }) => gone))
  await expect(ask(opened.line, 'ping')).rejects.toMatchObject({ kind: 'closed' })
  await expect(opened.line.send('{}')).rejects.toMatchObject({ kind: 'closed' })
  expect(opened.notes).toEqual([])
})
