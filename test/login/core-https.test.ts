import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, connectAll, createClient, type Client, type ConnectOptions } from '../../src/client.ts'
import { createServer as createMcp } from '../../src/index.ts'
import { authority, listenSecure, pair, server, whoServer } from '../auth/secure.ts'
import { createAuthority } from '../harness/certificates.ts'
import { testAuth } from './core-auth.ts'
import { failure } from './core-guarded.ts'

const anna = authority.issue('anna', [])
const trusting = { tls: { ca: authority.cert } }

interface Peer {
  readonly url: string
  readonly server: Server
  /** The verb and path of each request. */
  readonly seen: string[]
  readonly connections: number
}

type Respond = (
  asked: { id?: number; method?: string },
  response: ServerResponse,
  request: IncomingMessage,
) => void

/** A server over HTTPS that does whatever a test wants. */
async function serve(respond: Respond, settings: object = {}): Promise<Peer> {
  const seen: string[] = []
  let connections = 0
  const listener = createServer({ ...pair(server), ...settings }, (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url}`)
      respond(body.startsWith('{') ? (JSON.parse(body) as object) : {}, response, request)
    })
  })
  listener.on('secureConnection', () => void connections++)
  listener.on('tlsClientError', () => undefined)
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => {
    listener.closeAllConnections()
    listener.close()
  })
  const url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`
  return {
    url,
    server: listener,
    seen,
    get connections() {
      return connections
    },
  }
}

const INFO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'peer', version: '1' },
}

/** Answers the handshake, and calls with the given reply. */
function answering(reply: (text: string, response: ServerResponse) => void): Respond {
  return ({ id, method }, response, request) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'server/discover') return void response.writeHead(400).end()
    const result = method === 'initialize' ? INFO : { content: [{ type: 'text', text: 'answer' }] }
    const text = JSON.stringify({ jsonrpc: '2.0', id, result })
    if (method === 'initialize') response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    else reply(text, response)
  }
}

async function open(url: string, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(url, { recovery: false, ...trusting, ...options })
  onTestFinished(() => client.close())
  return client
}

describe('which servers are trusted', () => {
  test.each(['2025-11-25', '2026-07-28'] as const)(
    'at %s the server of a named authority is, with all that HTTP can do',
    async (revision) => {
      const app = createMcp({ name: 'secure', version: '1', log: () => undefined }).tool(
        'count',
        {},
        (_, ctx) => {
          ctx.progress(1, 2)
          ctx.progress(2, 2)
          return 'x'.repeat(300_000)
        },
      )
      const { address } = await listenSecure('http', pair(server), app as never)
      const client = await open(address, { revision })
      const reports: unknown[] = []
      const text = await client.call('count', {}, { onProgress: ({ progress }) => reports.push(progress) })
      expect([reports, (text as string).length]).toEqual([[1, 2], 300_000])
      expect((await client.server()).revision).toBe(revision)
    },
  )

  test('others are not, and the error says what to do', async () => {
    const { address } = await listenSecure('http', pair(server))
    const other = createAuthority('Another authority')
    for (const tls of [{ ca: other.cert }, { servername: 'x' }]) {
      const error = await failure(connect(address, { tls, recovery: false }))
      expect(error).toMatchObject({ kind: 'connect_failed' })
      expect(error.message).toContain(`cannot connect to ${new URL(address).origin}`)
      expect(error.message).toContain('name its authority with tls: { ca }, or the certificate itself')
    }
    const error = await failure(connect(address, { tls: { ca: authority.cert, servername: 'mcp.example' } }))
    expect(error.message).toContain('its certificate is for another name; set tls.servername')
  })

  test('a pinned certificate needs no authority, and nothing is sent to a server with another', async () => {
    const peer = await serve(answering((text, response) => response.end(text)))
    const { fingerprint256 } = new (await import('node:crypto')).X509Certificate(server.cert)
    const client = await open(peer.url, { tls: { pin: fingerprint256 }, revision: '2025-11-25' })
    expect((await client.server()).info).toMatchObject({ name: 'peer' })
    await client.close()
    peer.seen.length = 0
    const error = await failure(connect(peer.url, { tls: { pin: 'ab'.repeat(32) }, recovery: false }))
    expect(error).toMatchObject({ kind: 'connect_failed' })
    expect(error.message).toContain(`fingerprint ${fingerprint256}, which is not in tls.pin`)
    expect(peer.seen).toEqual([])
  })

  test('a name for the certificate can be given', async () => {
    const named = authority.issue('named', ['mcp.example'])
    const { address } = await listenSecure('http', pair(named))
    const client = await open(address, { tls: { ca: authority.cert, servername: 'mcp.example' } })
    expect(await client.call('who')).toBe('null')
  })
})

describe('the certificate of the client', () => {
  test('is shown to servers that ask for it', async () => {
    const { address } = await listenSecure('http', { ...pair(server), ca: authority.cert })
    const client = await open(address, { tls: { ca: authority.cert, ...pair(anna) } })
    expect(await client.call('who')).toContain('anna')
  })

  test('is asked for in the error if it is missing', async () => {
    const peer = await serve(
      answering((text, response) => response.end(text)),
      {
        requestCert: true,
        ca: authority.cert,
      },
    )
    const error = await failure(connect(peer.url, { ...trusting, recovery: false }))
    // The alert of the server may arrive before or after the connection ends.
    expect(error.message).toMatch(/requires a client certificate; give tls: \{ cert, key \}|the stream broke/)
    expect(peer.seen).toEqual([])
  })
})

describe('options', () => {
  test('tls is rejected for http:// and beside fetch, which replaces it in a group', async () => {
    const http = await failure(connect('http://127.0.0.1:9/mcp', trusting))
    expect(http.message).toBe('connect tls: it applies only to https://, tls://, wss://; remove it')
    const both = await failure(connect('https://127.0.0.1:9/mcp', { ...trusting, fetch }))
    expect(both.message).toBe('connect tls: fetch replaces it; give only one of the two')
    const { address } = await listenSecure('tcp', pair(server))
    const app = whoServer()
    onTestFinished(() => app.close())
    const own: typeof fetch = (input, init) => app.fetch(new Request(input as string, init))
    const servers = { local: 'https://127.0.0.1/mcp', remote: address }
    await using group = await connectAll(servers, { ...trusting, fetch: own })
    expect([...group.failures.values()]).toEqual([])
    expect(await group.call('remote__who')).toBe('null')
    expect(await group.call('local__who')).toBe('null')
  })

  test('mistakes in them are found', async () => {
    const error = await failure(connect('https://127.0.0.1:9/mcp', { tls: { ca: 'ca.pem' } }))
    expect(error).toMatchObject({ kind: 'bad_option' })
    expect(error.message).toContain('give the PEM text itself')
    const half = await failure(connect('https://127.0.0.1:9/mcp', { tls: { cert: anna.cert } }))
    expect(half.message).toContain('give both cert and key, or neither')
  })
})

describe('replies', () => {
  const JSON_TYPE = { 'content-type': 'application/json' }

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('with the coding %s are decoded', async (coding, encode) => {
    const peer = await serve(
      answering((text, response) =>
        response.writeHead(200, { ...JSON_TYPE, 'content-encoding': coding }).end(encode(text)),
      ),
    )
    expect(await (await open(peer.url)).call('any')).toBe('answer')
  })

  test('with more than one coding are rejected', async () => {
    const peer = await serve(
      answering((text, response) =>
        response
          .writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip, br' })
          .end(brotliCompressSync(gzipSync(text))),
      ),
    )
    expect(await failure((await open(peer.url)).call('any'))).toMatchObject({ kind: 'bad_answer' })
  })

  test('are limited after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
    const peer = await serve(
      answering((_, response) =>
        response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb),
      ),
    )
    const client = await open(peer.url, { limits: { clientBytes: 100_000 } })
    expect(await failure(client.call('any'))).toMatchObject({ kind: 'answer_too_large' })
  })

  test('that are events arrive one by one, also compressed, and closing cancels the request', async () => {
    const { createGzip, constants } = await import('node:zlib')
    const gone: Promise<unknown>[] = []
    const peer = await serve(
      answering((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
        gone.push(once(response, 'close'))
        const coded = createGzip({ flush: constants.Z_SYNC_FLUSH })
        coded.pipe(response)
        const params = { level: 'info', data: 'first' }
        const note = { jsonrpc: '2.0', method: 'notifications/message', params }
        coded.write(`data: ${JSON.stringify(note)}\n\n`)
        coded.flush()
      }),
    )
    const client = await open(peer.url, { revision: '2025-11-25' })
    const logged = new Promise((resolve) => client.on('log', resolve))
    const controller = new AbortController()
    const call = failure(client.call('any', {}, { signal: controller.signal }))
    expect(await logged).toMatchObject({ data: 'first' })
    controller.abort()
    expect(await call).toMatchObject({ kind: 'cancelled' })
    await Promise.all(gone)
  })

  test('that break off are lost streams, and garbage is a bad answer', async () => {
    const cut = await serve(
      answering((_, response) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' }).write('{')
        setImmediate(() => response.destroy())
      }),
    )
    expect(await failure((await open(cut.url)).call('any'))).toMatchObject({ kind: 'stream_lost' })
    const silent = await serve(answering((_, response) => response.destroy()))
    expect(await failure((await open(silent.url)).call('any'))).toMatchObject({ kind: 'stream_lost' })
    const odd = await serve(
      answering((_, response) => void response.socket?.end('HTTP/1.1 nonsense\r\n\r\n')),
    )
    expect(await failure((await open(odd.url)).call('any'))).toMatchObject({ kind: 'bad_answer' })
    const far = await serve(answering((_, response) => void response.writeHead(999).end()))
    expect(await failure((await open(far.url)).call('any'))).toMatchObject({ kind: 'bad_answer' })
  })

  test('that redirect elsewhere are not followed, and inside the origin they are', async () => {
    const other = await serve((_, response) => void response.writeHead(500).end())
    const away = await serve((_, response) => void response.writeHead(307, { location: other.url }).end())
    expect(await failure(connect(away.url, { ...trusting, recovery: false }))).toMatchObject({
      kind: 'http_failed',
      data: { status: 307, location: other.url },
    })
    expect(other.seen).toEqual([])
    const usual = answering((text, response) => response.writeHead(200, JSON_TYPE).end(text))
    const moved = await serve((asked, response, request) =>
      request.url === '/mcp'
        ? void response.writeHead(308, { location: '/new' }).end()
        : usual(asked, response, request),
    )
    expect(await (await open(moved.url)).call('any')).toBe('answer')
  })
})

describe('connections', () => {
  test('are kept and shared by requests that follow each other', async () => {
    const peer = await serve(
      answering((text, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      ),
    )
    const client = await open(peer.url, { revision: '2025-11-25' })
    for (let calls = 0; calls < 5; calls++) expect(await client.call('any')).toBe('answer')
    expect(peer.seen.length).toBeGreaterThan(6)
    expect(peer.connections).toBeLessThanOrEqual(3)
  })

  test('that cannot be opened say why', async () => {
    const gone = await serve(() => undefined)
    gone.server.close()
    await once(gone.server, 'close')
    expect((await failure(connect(gone.url, { ...trusting, recovery: false }))).message).toContain(
      'nothing listens there; start the server, or correct the address (ECONNREFUSED)',
    )
    const plain = createHttp().listen(0, '127.0.0.1')
    await once(plain, 'listening')
    onTestFinished(() => void plain.close())
    const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}/mcp`
    expect((await failure(connect(url, { ...trusting, recovery: false }))).message).toContain(
      'it does not use TLS; connect with http:// if that is intended',
    )
  })
})

test('methods of authentication get a fetch with these options, for the origin of the server only', async () => {
  const peer = await serve((_, response) => void response.writeHead(204).end())
  const auth = testAuth('good')
  const client = createClient(peer.url, { ...trusting, auth })
  await failure(client.call('any', {}, { timeout: '5s' }))
  const [asked] = auth.asked.servers
  const { ownFetch } = asked as { ownFetch: typeof fetch }
  const body = new URLSearchParams({ grant: 'code' })
  const reply = await ownFetch(new URL('/token', peer.url), { method: 'POST', body, redirect: 'manual' })
  expect([reply.status, reply.body]).toEqual([204, null])
  expect(peer.seen.at(-1)).toBe('POST /token')
  const asRequest = await ownFetch(new Request(new URL('/again', peer.url), { method: 'PUT', body: 'x' }))
  expect([asRequest.status, peer.seen.at(-1)]).toEqual([204, 'PUT /again'])
  await expect(ownFetch('https://localhost:1/')).rejects.toThrow('tls is for')
  await client.close()
})
