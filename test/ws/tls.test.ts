import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { createAuthority, selfSigned, type Identity } from '../harness/certificates.ts'
import { headed } from '../http/messages.ts'
import { start } from './server.ts'

const harbour = createAuthority('harbour')
const server = harbour.issue('server', ['127.0.0.1'])
const ship = harbour.issue('ship')
const stranger = selfSigned('stranger', ['127.0.0.1'])

function app(limits: Partial<Limits> = {}): App {
  return createServer({ name: 'tls', version: '1', limits, log: () => undefined }).tool(
    'who',
    {},
    (_, { auth }) => auth?.sub ?? 'nobody',
  )
}

async function client(url: string, tls: ConnectOptions['tls'] = {}): Promise<Client> {
  const one = await connect(url, { tls })
  onTestFinished(() => one.close())
  return one
}

const pair = ({ key, cert }: Identity): { readonly key: string; readonly cert: string } => ({ key, cert })
const kindOf = (error: unknown): string => (error as { kind: string }).kind

describe('WebSocket over TLS', () => {
  test('on a port of its own, for clients that trust the certificate', async () => {
    const { url } = await start(app(), { ws: { port: 0, tls: pair(server) } })
    expect(url).toMatch(/^wss:/)
    expect(await (await client(url, { ca: harbour.cert })).call('who')).toBe('nobody')
    await expect(client(url)).rejects.toMatchObject({ kind: 'connect_failed' })
  })

  test('on the port of HTTPS', async () => {
    const { url, running } = await start(app(), { http: { port: 0, tls: pair(server) }, ws: true })
    expect(running.url).toBe(url.replace('wss', 'https'))
    expect(await (await client(url, { ca: harbour.cert })).call('who')).toBe('nobody')
  })

  test('a client may know the very certificate, and tells no other server anything [S1-6.1-3]', async () => {
    const { url } = await start(app(), { ws: { port: 0, tls: pair(stranger) } })
    expect(await (await client(url, { pin: stranger.fingerprint })).call('who')).toBe('nobody')
    const wrong = await client(url, { pin: server.fingerprint }).catch((error: Error) => error)
    expect([kindOf(wrong), (wrong as Error).message]).toEqual([
      'connect_failed',
      expect.stringContaining('tls.pin'),
    ])
  })

  test('a server may ask for certificates, which identify the caller [S1-6.1-3]', async () => {
    const { url } = await start(app(), { ws: { port: 0, tls: { ...pair(server), ca: harbour.cert } } })
    expect(await (await client(url, { ca: harbour.cert, ...pair(ship) })).call('who')).toContain('CN=ship')
    await expect(client(url, { ca: harbour.cert })).rejects.toMatchObject({ kind: 'connect_failed' })
    await expect(client(url, { ca: harbour.cert, ...pair(stranger) })).rejects.toMatchObject({
      kind: 'connect_failed',
    })
  })

  test('a server may know the very certificates of its clients [S1-6.1-3]', async () => {
    const { url } = await start(app(), {
      ws: { port: 0, tls: { ...pair(server), pin: stranger.fingerprint } },
    })
    expect(await (await client(url, { ca: harbour.cert, ...pair(stranger) })).call('who')).toBe(
      stranger.fingerprint,
    )
    await expect(client(url, { ca: harbour.cert, ...pair(ship) })).rejects.toMatchObject({
      kind: 'connect_failed',
      data: { status: 403 },
    })
  })

  test('a session goes on only for the certificate that it was opened with', async () => {
    const { url } = await start(app(), { ws: { port: 0, tls: { ...pair(server), ca: harbour.cert } } })
    const idFor = async (who: Identity, own?: string): Promise<string> => {
      const headers = { 'last-event-id': '0', ...(own !== undefined && { 'mcp-session-id': own }) }
      const socket = new WebSocket(url, ['mcp'], { ca: harbour.cert, ...pair(who), headers })
      onTestFinished(() => socket.terminate())
      socket.on('error', () => undefined)
      const [reply] = (await once(socket, 'upgrade')) as [IncomingMessage]
      return String(reply.headers['mcp-session-id'])
    }
    const id = await idFor(ship)
    expect(id).toMatch(/^[\w-]{24}$/)
    expect(await idFor(harbour.issue('boat'), id)).not.toBe(id)
    expect(await idFor(ship, id)).toBe(id)
  })

  test('HTTPS on the same port identifies the caller by certificate, too [S1-6.1-3]', async () => {
    const tls = { ...pair(server), ca: harbour.cert }
    const { running } = await start(app(), { http: { port: 0, tls }, ws: true })
    const { body, headers } = headed('tools/call', { name: 'who', arguments: {} })
    const post = (own: object): Promise<string> =>
      posted(running.url as string, { headers, ca: harbour.cert, ...own }, body)
    expect(await post(pair(ship))).toContain('CN=ship')
    await expect(post({})).rejects.toMatchObject({ code: expect.stringMatching(/CERTIFICATE|RESET|EPIPE/) })
  })

  test('HTTPS lets in only the certificates that are pinned [S1-6.1-3]', async () => {
    const tls = { ...pair(server), pin: stranger.fingerprint }
    const running = await app().listen({ http: { port: 0, tls } })
    onTestFinished(() => running.close())
    const { body, headers } = headed('tools/call', { name: 'who', arguments: {} })
    const post = (own: object): Promise<string> =>
      posted(running.url as string, { headers, ca: harbour.cert, ...own }, body)
    expect(await post(pair(stranger))).toContain(stranger.fingerprint)
    for (const own of [pair(ship), {}]) {
      const said = await post(own).catch((error: Error) => error.message)
      expect(said).not.toContain('result')
      expect(said).not.toContain('nobody')
    }
  })

  test.each([Infinity, 2 ** 31, 0.5 + 2 ** 20])(
    'a server that lets clients take %d ms serves, without a warning of Node',
    async (ms) => {
      const warned = vi.spyOn(process, 'emitWarning')
      onTestFinished(() => warned.mockRestore())
      const limits = { headersMs: ms, bodyMs: ms, idleMs: ms, headBytes: Infinity }
      const { running, url } = await start(app(limits), { http: { port: 0, tls: pair(server) }, ws: true })
      const { body, headers } = headed('tools/call', { name: 'who', arguments: {} })
      expect(await posted(running.url as string, { headers, ca: harbour.cert }, body)).toContain('nobody')
      expect(await (await client(url, { ca: harbour.cert })).call('who')).toBe('nobody')
      expect(warned).not.toHaveBeenCalled()
    },
  )

  test('W.upgrade a request to HTTPS on the same port that would rather be HTTP/2 is served as what it is', async () => {
    const { running } = await start(app(), { http: { port: 0, tls: pair(server) }, ws: true })
    const { body, headers } = headed('tools/call', { name: 'who', arguments: {} })
    const rather = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQ' }
    const options = { headers: { ...headers, ...rather }, ca: harbour.cert }
    expect(await posted(running.url as string, options, body)).toContain('nobody')
  })
})

function posted(url: string, options: RequestOptions, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', ...options }, (reply) => {
      let text = ''
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
      reply.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
