import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer, type Running } from 'pierhead'
import { connect, type Client } from '../../src/client.ts'
import type { ConnectOptions } from '../../src/app/connect/connect.ts'
import { createEverything } from './app.ts'
import { all, failure } from './gather.ts'
import { event, events, handshake, json, result, serve } from '../http-client/peer.ts'

const LATEST = '2026-07-28'

interface Seen {
  readonly verb: string
  readonly headers: Headers
  readonly method: unknown
  readonly body: string
}

/** A network that notes what was sent. */
function spying(): { readonly fetch: typeof fetch; readonly seen: readonly Seen[] } {
  const seen: Seen[] = []
  return {
    seen,
    fetch: (input, init = {}) => {
      const body = typeof init.body === 'string' ? init.body : ''
      const { method } = (body === '' ? {} : JSON.parse(body)) as { method?: unknown }
      seen.push({ verb: init.method ?? 'GET', headers: new Headers(init.headers), method, body })
      return fetch(input, init)
    },
  }
}

let running: Running
beforeAll(async () => {
  running = await createEverything().listen({ http: { port: 0 } })
})
afterAll(() => running.close())

async function open(
  options: ConnectOptions,
): Promise<{ readonly client: Client; readonly seen: readonly Seen[] }> {
  const { fetch, seen } = spying()
  return { client: await connect(running.url as string, { ...options, fetch }), seen }
}

test('after a stream for notifications that cannot go on where it was, what is watched counts as changed', async () => {
  let streams = 0
  const peer = await serve((seen, response) => {
    const { id, method } = seen.message
    if (method === 'initialize') {
      const about = { protocolVersion: '2025-11-25', serverInfo: { name: 'peer', version: '1' } }
      const capabilities = { tools: { listChanged: true } }
      return json(response, result(id, { ...about, capabilities }), 200, { 'mcp-session-id': 's1' })
    }
    if (handshake(seen, response)) return undefined
    events(response)
    // Without event ids nobody can come back to the place where the first stream ended.
    return ++streams === 1 ? response.end(': first\n\n') : response.write(': second\n\n')
  })
  const client = await connect(peer.url, { revision: '2025-11-25' })
  let missed = 0
  client.on('missed', () => missed++)
  for await (const change of client.watch({ tools: true })) {
    expect(change).toEqual({ kind: 'tools' })
    break
  }
  expect([streams, missed]).toEqual([2, 1])
  await client.close()
})

describe('over HTTP at 2026-07-28', () => {
  test('every request repeats its version, method and name in headers [R111] [R112] [R113] [R073]', async () => {
    const { client, seen } = await open({ revision: LATEST })
    await all(client.prompts())
    await client.call('echo', { text: 'x' })
    await client.prompt('greet', { name: 'Zoe' })
    await client.read('city://Rome')
    await client.notify('notifications/acme', {})
    await client.close()
    const named = seen.map(({ method, headers }) => [
      method,
      headers.get('mcp-method'),
      headers.get('mcp-name'),
    ])
    expect(named).toEqual([
      ['server/discover', 'server/discover', null],
      ['prompts/list', 'prompts/list', null],
      ['tools/call', 'tools/call', 'echo'],
      ['prompts/get', 'prompts/get', 'greet'],
      ['resources/read', 'resources/read', 'city://Rome'],
      ['notifications/acme', null, null],
    ])
    for (const { headers, body, verb, method } of seen) {
      expect(verb).toBe('POST')
      expect(headers.get('mcp-protocol-version')).toBe(LATEST)
      const said = `"io.modelcontextprotocol/protocolVersion":"${LATEST}"`
      expect(body.includes(said)).toBe(method !== 'notifications/acme')
      expect(headers.get('accept')).toBe('application/json, text/event-stream')
      expect(headers.has('mcp-session-id')).toBe(false)
    }
  })

  test('a request whose answer was lost is issued again under a new id, and never resumed [R128]', async () => {
    let calls = 0
    const peer = await serve(({ message: { id, method } }, response) => {
      const about = { supportedVersions: [LATEST], capabilities: { tools: {} } }
      const whole = { resultType: 'complete', content: [{ type: 'text', text: 'whole' }] }
      if (method !== 'tools/call') return json(response, result(id, { resultType: 'complete', ...about }))
      events(response)
      return calls++ === 0 ? response.end(event('', 'e1')) : response.end(event(result(id, whole)))
    })
    const client: Client = await connect(peer.url)
    expect(await client.call('any', {}, { idempotent: true })).toBe('whole')
    await client.close()
    const sent = peer.seen.filter(({ message }) => message.method === 'tools/call')
    expect(sent).toHaveLength(2)
    expect(new Set(sent.map(({ message }) => message.id)).size).toBe(2)
    expect(peer.seen.every(({ verb }) => verb === 'POST')).toBe(true)
    for (const { headers } of peer.seen) expect(headers['last-event-id']).toBeUndefined()
  })

  test('marked arguments are repeated in headers, encoded if necessary, and omitted if absent [R117] [R118]', async () => {
    const { client, seen } = await open({ revision: LATEST })
    await all(client.tools())
    const sent = async (region: unknown): Promise<string | null> => {
      await client.call('placed', region === undefined ? {} : { region })
      return seen.at(-1)?.headers.get('mcp-param-region') ?? null
    }
    expect(await sent('eu-west')).toBe('eu-west')
    expect(await sent('übersee')).toBe('=?base64?w7xiZXJzZWU=?=')
    expect(await sent('=?base64?ZXU=?=')).toBe('=?base64?PT9iYXNlNjQ/WlhVPT89?=')
    expect(await sent(undefined)).toBeNull()
    await failure(client.call('placed', { region: null }))
    expect(seen.at(-1)?.headers.has('mcp-param-region')).toBe(false)
    await client.close()
  })

  test('a call that was refused for its headers is repeated once, after the tools were listed anew [R121]', async () => {
    const { client, seen } = await open({ revision: LATEST })
    expect(await client.call('placed', { region: 'eu' })).toBe('eu')
    const methods = seen.map(({ method }) => method)
    expect(methods[1]).toBe('tools/call')
    expect(methods.slice(2, -1).every((method) => method === 'tools/list')).toBe(true)
    expect(methods.at(-1)).toBe('tools/call')
    await client.close()
    const stubborn = await serve(({ message: { id, method } }, response) => {
      if (method === 'server/discover')
        json(
          response,
          result(id, { resultType: 'complete', supportedVersions: [LATEST], capabilities: { tools: {} } }),
        )
      else if (method === 'tools/list') json(response, result(id, { resultType: 'complete', tools: [] }))
      else json(response, { jsonrpc: '2.0', id, error: { code: -32020, message: 'never' } }, 400)
    })
    const other = await connect(stubborn.url)
    expect(await failure(other.call('placed', { region: 'eu' }))).toMatchObject({ kind: 'header_mismatch' })
    expect(stubborn.seen.filter(({ message }) => message.method === 'tools/call').length).toBe(2)
    await other.close()
  })

  test('a tool with a mark that no request can honour is left out with a warning, the others stay [R119]', async () => {
    const bad = { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }
    const twice = { type: 'string', 'x-mcp-header': 'Same' }
    const tools = [
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'bad', inputSchema: bad },
      { name: 'twice', inputSchema: { type: 'object', properties: { a: twice, b: twice } } },
    ]
    const peer = await serve(({ message: { id, method } }, response) => {
      const about = { supportedVersions: [LATEST], capabilities: { tools: {} } }
      json(response, result(id, { resultType: 'complete', ...(method === 'tools/list' ? { tools } : about) }))
    })
    const client = await connect(peer.url)
    const warnings: string[] = []
    client.on('warning', (text) => warnings.push(text))
    expect((await all(client.tools())).map(({ name }) => name)).toEqual(['good'])
    expect(warnings).toEqual([expect.stringMatching(/^skipped tool "bad": .*, and 1 more$/)])
    await client.close()
  })
})

describe.each(['2025-03-26', '2025-06-18', '2025-11-25'] as const)('over HTTP at %s', (revision) => {
  test('requests carry the session and the version that were agreed on, and closing ends the session with DELETE [R073] [R083] [R087] [R088] [S4-1-8] [S4-4-2]', async () => {
    const { client, seen } = await open({ revision })
    await client.call('echo', { text: 'x' })
    await client.close()
    const [first, ...later] = seen
    expect(first?.headers.has('mcp-session-id')).toBe(false)
    expect(later.at(-1)?.verb).toBe('DELETE')
    const posted = seen.filter(({ body }) => body !== '')
    expect(posted.map(({ verb, method }) => [verb, method])).toEqual([
      ['POST', 'initialize'],
      ['POST', 'notifications/initialized'],
      ['POST', 'tools/call'],
    ])
    for (const { body } of posted) expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0' })
    for (const { headers, verb } of later) {
      expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/)
      expect(headers.get('mcp-protocol-version')).toBe(revision)
      const accepted = verb === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'
      expect(headers.get('accept')).toBe(accepted)
      expect(headers.has('mcp-method')).toBe(false)
    }
  })

  test('both kinds of answer are read, and closing works with a server that does not support DELETE [R078] [R087]', async () => {
    const about = {
      protocolVersion: revision,
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
    const peer = await serve((seen, response) => {
      const { id, method, params } = seen.message as {
        id?: number
        method?: string
        params?: { name?: string }
      }
      const answer = (text: string): object => result(id, { content: [{ type: 'text', text }] })
      if (method === 'initialize') json(response, result(id, about), 200, { 'mcp-session-id': 's1' })
      else if (method !== 'tools/call')
        response.writeHead(id === undefined && seen.verb === 'POST' ? 202 : 405).end()
      else if (params?.name === 'plain') json(response, answer('plain'))
      else {
        events(response)
        response.end(`: a comment\n\n${event(answer('streamed'))}`)
      }
    })
    const client = await connect(peer.url, { revision })
    expect(await client.call('plain')).toBe('plain')
    expect(await client.call('stream')).toBe('streamed')
    await client.close()
    expect(peer.of('DELETE').length).toBe(1)
  })

  test('a session that is gone cuts no call that is in flight [R086]', async () => {
    const about = {
      protocolVersion: revision,
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
    let sessions = 0
    let release: () => void = () => undefined
    const peer = await serve((seen, response) => {
      const { id, method, params } = seen.message as {
        id?: number
        method?: string
        params?: { name?: string }
      }
      const answer = (text: string): object => result(id, { content: [{ type: 'text', text }] })
      if (method === 'initialize')
        json(response, result(id, about), 200, { 'mcp-session-id': `s${++sessions}` })
      else if (method !== 'tools/call') {
        if (!handshake(seen, response)) response.writeHead(405).end()
      } else if (params?.name === 'hold') release = () => json(response, answer('held'))
      else if (seen.headers['mcp-session-id'] === 's1') response.writeHead(404).end()
      else json(response, answer('anew'))
    })
    const client = await connect(peer.url, { revision })
    const held = client.call('hold')
    while (!peer.seen.some(({ message }) => message.method === 'tools/call')) await new Promise(setImmediate)
    expect(await client.call('go')).toBe('anew')
    release()
    expect(await held).toBe('held')
    expect(sessions).toBe(2)
    const openings = peer.seen.filter(({ message }) => message.method === 'initialize')
    expect(openings.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, undefined])
    await client.close()
  })
})

describe('what was found out about a server', () => {
  const seenBy = async (url: string): Promise<readonly unknown[]> => {
    const { fetch, seen } = spying()
    await using client = await connect(url, { fetch })
    await client.ping()
    return seen.map(({ method }) => method)
  }

  test('is remembered: it is not asked again for the newest revision', async () => {
    const server = createServer({
      name: 'old',
      version: '1',
      revisions: ['2025-11-25'],
      log: () => undefined,
    })
    const old = await server.listen({ http: { port: 0 } })
    const url = old.url as string
    expect((await seenBy(url))[0]).toBe('server/discover')
    expect((await seenBy(url))[0]).toBe('initialize')
    await old.close()
  })

  test('is discarded when the server no longer supports handshakes', async () => {
    let newest = false
    const peer = await serve((seen, response) => {
      const { id, method } = seen.message
      const about = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 's', version: '1' },
      }
      const refuse = (code: number, status: number): void =>
        json(response, { jsonrpc: '2.0', id, error: { code, message: 'no' } }, status)
      if (seen.verb !== 'POST') response.writeHead(405).end()
      else if (id === undefined) response.writeHead(202).end()
      else if (method === 'server/discover' && newest)
        json(response, result(id, { resultType: 'complete', supportedVersions: [LATEST], capabilities: {} }))
      else if (method === 'initialize' && !newest) json(response, result(id, about))
      else if (method === 'ping' && !newest) json(response, result(id, {}))
      else refuse(-32601, newest ? 404 : 200)
    })
    expect(await seenBy(peer.url)).toContain('initialize')
    newest = true
    expect(await seenBy(peer.url)).toEqual(['initialize', 'server/discover', 'server/discover'])
    expect(await seenBy(peer.url)).toEqual(['server/discover', 'server/discover'])
  })

  test('is not guessed from a refusal for want of credentials, a broken server or one that is away', async () => {
    for (const status of [401, 403, 500, 503]) {
      const peer = await serve((_, response) => void response.writeHead(status).end())
      const error = await failure(connect(peer.url))
      expect(error).toMatchObject({ kind: 'http_failed', data: { status } })
      expect(peer.seen.length).toBe(1)
    }
  })

  test('is an old revision where a browser hides why it was not let through', async () => {
    const opaque: typeof fetch = (input, init) =>
      JSON.stringify(init?.body ?? '').includes('server/discover')
        ? Promise.reject(new TypeError('Failed to fetch'))
        : fetch(input, init)
    await using client = await connect(running.url as string, { fetch: opaque })
    expect((await client.server()).revision).toBe('2025-11-25')
  })
})
