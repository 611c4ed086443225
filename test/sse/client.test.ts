import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import { failureOf } from '../harness/failure.ts'
import { after, serve, type Peer, type Respond, type Seen } from '../http-client/peer.ts'

const INFO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'old', version: '1' },
}

interface Script {
  /** How the POST of other transports is refused. */
  refuse?(seen: Seen, response: ServerResponse): void
  /** What is written first on a stream. */
  greeting?(origin: string): string
  /** Takes a message; true means that it was answered. */
  take?(seen: Seen, response: ServerResponse, stream: ServerResponse): boolean
}

interface Old extends Peer {
  readonly streams: readonly ServerResponse[]
}

/** A server that speaks only the oldest transport over HTTP. */
async function old({ refuse, greeting, take }: Script = {}): Promise<Old> {
  const streams: ServerResponse[] = []
  const answer: Respond = (seen, response) => {
    const { verb, url, message } = seen
    if (verb === 'GET') {
      streams.push(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const origin = new URL(peer.url).origin
      return void response.write(
        greeting?.(origin) ?? `event: endpoint\ndata: /in?sessionId=${streams.length}\n\n`,
      )
    }
    const stream = streams[Number(new URL(url, peer.url).searchParams.get('sessionId')) - 1]
    if (stream === undefined)
      return refuse === undefined ? void response.writeHead(405).end() : refuse(seen, response)
    if (take?.(seen, response, stream) === true) return
    response.writeHead(202).end('Accepted')
    const { id, method } = message
    if (id === undefined) return
    say(stream, {
      id,
      result: method === 'initialize' ? INFO : method === 'tools/list' ? { tools: [] } : { content: [] },
    })
  }
  const peer = await serve(answer)
  return { ...peer, of: (verb) => peer.of(verb), streams }
}

function say(stream: ServerResponse, message: object): void {
  stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
}

async function meet(peer: Peer, options: ConnectOptions = {}): Promise<Client> {
  const client = await connect(peer.url, options)
  after(() => client.close())
  return client
}

const REFUSED = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32000, message: 'Method not allowed.' },
})

describe('a server that supports no newer transport', () => {
  test.each([400, 404, 405])('is found by a GET after it responded with %i [R100]', async (status) => {
    for (const body of ['Cannot POST', REFUSED]) {
      const type = body === REFUSED ? 'application/json' : 'text/html'
      const peer = await old({
        refuse: (_, response) => void response.writeHead(status, { 'content-type': type }).end(body),
      })
      const client = await meet(peer)
      expect(await client.server()).toMatchObject({ revision: '2025-11-25', info: { name: 'old' } })
      expect(await client.call('any')).toEqual([])
      expect(peer.seen.map(({ verb }) => verb).slice(0, 4)).toEqual(['POST', 'POST', 'GET', 'POST'])
    }
  })

  test.each([401, 403, 429, 500])('is not looked for after %i [R100]', async (status) => {
    const peer = await old({ refuse: (_, response) => void response.writeHead(status).end() })
    const error = await failureOf(meet(peer, { revision: '2025-11-25' }))
    expect([error.kind, error.data?.['status']]).toEqual(['http_failed', status])
    expect(peer.of('GET')).toEqual([])
  })

  test('is not looked for when the error is one of the newest revision [R100]', async () => {
    const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }
    const peer = await old({
      refuse: ({ message: { id } }, response) =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, error })),
    })
    expect(await failureOf(meet(peer, { revision: '2025-11-25' }))).toMatchObject({ code: -32022 })
    expect(peer.of('GET')).toEqual([])
  })

  test('is remembered: the next client opens the stream at once', async () => {
    const peer = await old()
    await meet(peer)
    peer.seen.length = 0
    await meet(peer)
    expect(peer.seen.map(({ verb, url }) => `${verb} ${url}`)).toEqual([
      'GET /mcp',
      'POST /in?sessionId=2',
      'POST /in?sessionId=2',
    ])
  })

  test('that was upgraded since is probed again from the start', async () => {
    let isNewer = false
    const peer = await serve((seen, response) => {
      const { verb, message } = seen
      if (!isNewer && verb === 'POST' && seen.url === '/mcp') return void response.writeHead(404).end()
      if (verb === 'GET' && isNewer) return void response.writeHead(405).end()
      if (verb === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        stream = response
        return void response.write('event: endpoint\ndata: /in\n\n')
      }
      if (message.id === undefined) return void response.writeHead(202).end()
      if (isNewer && message.method === 'server/discover') return void response.writeHead(400).end()
      const reply = { jsonrpc: '2.0', id: message.id, result: INFO }
      if (isNewer)
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
      response.writeHead(202).end()
      say(stream as ServerResponse, reply)
    })
    let stream: ServerResponse | undefined
    await (await meet(peer)).close()
    isNewer = true
    peer.seen.length = 0
    await meet(peer, { limits: { reconnectFirstMs: 1 } })
    expect(peer.seen.map(({ verb }) => verb).slice(0, 3)).toEqual(['GET', 'POST', 'POST'])
  })

  test('gets the headers of the caller with every request', async () => {
    const peer = await old()
    const client = await meet(peer, { headers: { 'x-key': 'secret' } })
    await client.call('any')
    expect(peer.seen.every(({ headers }) => headers['x-key'] === 'secret')).toBe(true)
    expect(peer.seen.at(-1)?.headers).toMatchObject({ 'mcp-protocol-version': '2025-11-25' })
  })
})

describe('the address', () => {
  test.each([
    ['another host', () => 'http://evil.example/in'],
    ['another port', (origin: string) => `${origin.replace(/\d+$/, '1')}/in`],
    ['another scheme', (origin: string) => origin.replace('http:', 'https:')],
    ['a host without scheme', () => '//evil.example/in'],
    ['a script', () => 'javascript:alert(1)'],
    ['a file', () => 'file:///etc/passwd'],
    ['a blob of the same origin', (origin: string) => `blob:${origin}/1`],
    ['credentials', (origin: string) => origin.replace('//', '//me:word@')],
    ['nonsense', () => 'http://[::'],
  ])('C.endpoint-foreign with %s is not used', async (_, address) => {
    const peer = await old({ greeting: (origin) => `event: endpoint\ndata: ${address(origin)}\n\n` })
    const error = await failureOf(meet(peer, { headers: { authorization: 'Bearer secret' } }))
    expect([error.kind, error.message]).toEqual(['connect_failed', expect.stringContaining('same origin')])
    expect(peer.of('POST')).toHaveLength(2)
    await peer.of('GET')[0]?.gone
  })

  test.each([
    ['absolute', (origin: string) => `${origin}/in?sessionId=1`],
    ['relative to the stream', () => 'in?sessionId=1'],
    ['with a fragment', () => '/in?sessionId=1#x'],
  ])('may be %s', async (_, address) => {
    const peer = await old({ greeting: (origin) => `event: endpoint\ndata: ${address(origin)}\n\n` })
    await (await meet(peer)).call('any')
    expect(peer.seen.at(-1)?.url).toBe('/in?sessionId=1')
  })

  test('cannot be changed later', async () => {
    const peer = await old()
    const client = await meet(peer)
    peer.streams[0]?.write('event: endpoint\ndata: /elsewhere?sessionId=1\n\n')
    await client.call('any')
    expect(peer.seen.at(-1)?.url).toBe('/in?sessionId=1')
  })

  test('that is not sent first, or not in time, means the server does not support the transport', async () => {
    for (const greeting of [
      `event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\nevent: endpoint\ndata: /in?sessionId=1\n\n`,
      ': hello\n\n',
    ]) {
      const peer = await old({ greeting: () => greeting })
      const error = await failureOf(meet(peer, { timeout: 300 }))
      expect([error.kind, error.data?.['status']]).toEqual(['http_failed', 405])
      await peer.of('GET')[0]?.gone
    }
  })

  test('that redirects messages to another origin gets none there', async () => {
    const other = await serve((_, response) => void response.writeHead(202).end())
    const peer = await old({
      take: (_, response) => {
        response.writeHead(307, { location: other.url }).end()
        return true
      },
    })
    expect(await failureOf(meet(peer))).toMatchObject({ kind: 'http_failed' })
    expect(other.seen).toEqual([])
  })
})

describe('the stream', () => {
  test('that breaks fails pending requests, and the next call opens another', async () => {
    const peer = await old({
      take: ({ message }, response, stream) => {
        if (message.method !== 'tools/call' || peer.streams.length > 1) return false
        response.writeHead(202).end()
        stream.destroy()
        return true
      },
    })
    const client = await meet(peer, { limits: { reconnectFirstMs: 1 } })
    expect(await failureOf(client.call('any'))).toMatchObject({ kind: 'stream_lost' })
    expect(await client.call('any')).toEqual([])
    expect(peer.streams).toHaveLength(2)
  })

  test('that the server no longer knows is opened anew, and the call repeated', async () => {
    const peer = await old({
      take: ({ message }, response) => {
        if (message.method !== 'tools/call' || peer.streams.length > 1) return false
        response.writeHead(404).end()
        return true
      },
    })
    const client = await meet(peer, { limits: { reconnectFirstMs: 1 } })
    expect(await client.call('any')).toEqual([])
    expect(peer.streams).toHaveLength(2)
  })

  test('C.sse-huge-event with an event beyond the limit fails the call that waits for it', async () => {
    const peer = await old({
      take: ({ message }, response, stream) => {
        if (message.method !== 'tools/call' || message.params?.name !== 'any') return false
        response.writeHead(202).end()
        say(stream, { id: message.id, result: { content: [{ type: 'text', text: 'x'.repeat(20_000) }] } })
        return true
      },
    })
    const client = await meet(peer, { limits: { clientBytes: 10_000 } })
    expect(await failureOf(client.call('any'))).toMatchObject({ kind: 'answer_too_large' })
    expect(await client.call('other')).toEqual([])
  })

  test('with something other than a message is reported once, and reading continues', async () => {
    const peer = await old()
    const client = await meet(peer)
    const notes: string[] = []
    client.on('warning', (text) => notes.push(String(text)))
    for (const junk of ['junk', '{}', '[]', '{"jsonrpc":"2.0","id":99,"result":{}}'])
      peer.streams[0]?.write(`event: message\ndata: ${junk}\n\n`)
    await client.call('any')
    expect(notes).toHaveLength(1)
  })

  test('is closed when the client closes, and nothing is sent after that', async () => {
    const peer = await old()
    const client = await meet(peer)
    await client.close()
    await peer.of('GET')[0]?.gone
    expect(await failureOf(client.call('any'))).toMatchObject({ kind: 'closed' })
  })
})

describe('a rejected message', () => {
  test.each([
    [503, 'http_failed'],
    [401, 'http_failed'],
    [413, 'remote'],
  ])('with status %i fails its call only', async (status, kind) => {
    const error = { code: -32600, message: 'no' }
    const peer = await old({
      take: ({ message }, response) => {
        if (message.method !== 'tools/call' || message.params?.name !== 'any') return false
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', error }))
        return true
      },
    })
    const client = await meet(peer)
    expect(await failureOf(client.call('any'))).toMatchObject({ kind })
    expect(await client.call('other')).toEqual([])
  })

  test('cancelling a call notifies the server', async () => {
    const peer = await old({
      take: ({ message }, response) => {
        if (message.method !== 'tools/call') return false
        response.writeHead(202).end()
        return true
      },
    })
    const client = await meet(peer)
    expect(await failureOf(client.call('any', {}, { timeout: 50 }))).toMatchObject({ kind: 'timeout' })
    await expect.poll(() => peer.seen.at(-1)?.message.method).toBe('notifications/cancelled')
  })
})
