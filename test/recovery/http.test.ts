import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect, createClient, type Client, type ConnectOptions, type McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { testAuth } from '../login/core-auth.ts'

const URL_OF = 'http://127.0.0.1:9/mcp'

/** A server in this process, with somebody before it who looks at each request first. */
function behind(look: (request: Request) => Response | undefined): typeof fetch {
  const app = createServer({ name: 'behind', version: '1', ttl: '1h', log: () => undefined })
    .tool('work', {}, () => 'done')
    .tool('look', { hints: { idempotent: true } }, () => 'seen')
    .resource('note://kept', {}, () => 'kept')
  onTestFinished(() => app.close())
  return async (input, init) => {
    const request = new Request(input as RequestInfo, init)
    return look(request) ?? app.fetch(request)
  }
}

function client(options: ConnectOptions): Client {
  const made = createClient(URL_OF, { recovery: { first: '5ms', longest: '5s' }, ...options })
  onTestFinished(() => made.close())
  return made
}

function isCall(request: Request): boolean {
  return request.headers.get('mcp-method') === 'tools/call'
}

test('a bare 429 is waited out as its header says, for any request; a bare 502, 503 or 504 only for what is idempotent [S2-13-C7] [S2-8.5-1]', async () => {
  for (const [status, idempotent, tries] of [
    [429, false, 2],
    [503, false, 1],
    [503, true, 2],
    [502, false, 1],
    [502, true, 2],
    [504, false, 1],
    [504, true, 2],
    [500, true, 1],
  ] as const) {
    let calls = 0
    const look = (request: Request): Response | undefined =>
      isCall(request) && ++calls === 1
        ? new Response('busy', { status, headers: { 'retry-after': '0' } })
        : undefined
    const outcome = await client({ fetch: behind(look) })
      .call('work', {}, { idempotent })
      .catch((error: unknown) => (error as McpError).kind)
    expect([status, idempotent, calls, outcome]).toEqual([
      status,
      idempotent,
      tries,
      tries === 1 ? 'http_failed' : 'done',
    ])
  }
})

test('the error of a proxy whose servers are away is retryable, as its hint says', async () => {
  for (const [status, retryable] of [
    [500, false],
    [502, true],
    [503, true],
    [504, true],
  ] as const) {
    const look = (request: Request): Response | undefined =>
      isCall(request) ? new Response('<html>bad gateway</html>', { status }) : undefined
    const failed = client({ fetch: behind(look) }).call('work')
    await expect(failed).rejects.toMatchObject({ kind: 'http_failed', data: { status }, retryable })
  }
})

describe('a client that loses a call without having listed tools', () => {
  const lost = { code: -32603, message: 'lost', data: { refusal: { code: 1067, name: 'TRANSPORT_ERROR' } } }
  const LOSSES: readonly (readonly [string, (id: unknown) => Response])[] = [
    ['to a node that died', (id) => Response.json({ jsonrpc: '2.0', id, error: lost })],
    ['to a proxy', () => new Response('', { status: 502 })],
  ]

  /** Calls a tool once whose first calls are lost; gives the outcome, and the methods that the server saw. */
  async function lose(
    tool: string,
    loss: (id: unknown) => Response,
    { losses = 1, options = {}, ...more }: Losing = {},
  ): Promise<{ readonly outcome: unknown; readonly seen: readonly (string | null)[] }> {
    const seen: (string | null)[] = []
    const base = behind(() => undefined)
    const send: typeof fetch = async (input, init) => {
      const request = new Request(input as RequestInfo, init)
      const method = request.headers.get('mcp-method')
      if (method !== 'server/discover') seen.push(method)
      const { id } = (await request.clone().json()) as { readonly id: unknown }
      if (method === more.hangs) return new Promise<never>(() => undefined)
      if (method === more.alsoLost) return new Response('', { status: 500 })
      return isCall(request) && losses-- > 0 ? loss(id) : base(request)
    }
    const outcome = await client({ fetch: send, ...more.connect })
      .call(tool, {}, options)
      .catch((error: unknown) => (error as McpError).kind)
    return { outcome, seen }
  }
  interface Losing {
    readonly losses?: number
    readonly options?: { readonly idempotent?: boolean }
    readonly connect?: ConnectOptions
    readonly alsoLost?: string
    readonly hangs?: string
  }

  test.each(LOSSES)('%s asks for its hints, and repeats it if it is idempotent', async (_, loss) => {
    expect(await lose('look', loss)).toEqual({
      outcome: 'seen',
      seen: ['tools/call', 'tools/list', 'tools/call'],
    })
    expect((await lose('look', loss, { losses: 2 })).outcome).toBe('seen')
  })

  test.each(LOSSES)('%s does not repeat another tool, nor ask twice', async (_, loss) => {
    const { outcome, seen } = await lose('work', loss)
    expect(outcome).toMatch(/^(node_lost|http_failed)$/)
    expect(seen).toEqual(['tools/call', 'tools/list'])
  })

  test.each(LOSSES)('%s does not ask if it was told, or recovers from nothing', async (_, loss) => {
    for (const given of [{ options: { idempotent: false } }, { connect: { recovery: false } }] as const)
      expect((await lose('look', loss, given)).seen).toEqual(['tools/call'])
  })

  test.each(LOSSES)('%s repeats it if others listed the tools while it ran', async (_, loss) => {
    let lose = true
    const names: string[] = []
    const base = behind(() => undefined)
    const one = client({
      fetch: async (input, init) => {
        const request = new Request(input as RequestInfo, init)
        if (!isCall(request) || !lose) return base(request)
        lose = false
        for await (const { name } of one.tools()) names.push(name)
        const { id } = (await request.json()) as { readonly id: unknown }
        return loss(id)
      },
    })
    expect(await one.call('look')).toBe('seen')
    expect(names).toEqual(['work', 'look'])
  })

  test.each(LOSSES)('%s does not wait long for hints that never come', async (_, loss) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const outcome = lose('look', loss, { hangs: 'tools/list' })
    await vi.advanceTimersByTimeAsync(6000)
    expect((await outcome).outcome).toBe(loss(1).ok ? 'node_lost' : 'http_failed')
  })

  test.each(LOSSES)('%s throws the error of the call if the hints are not to be had', async (_, loss) => {
    const { outcome, seen } = await lose('look', loss, { alsoLost: 'tools/list' })
    expect(outcome).toBe(loss(1).ok ? 'node_lost' : 'http_failed')
    expect(seen).toEqual(['tools/call', 'tools/list'])
  })
})

test('Retry-After is honoured to the second [S2-8.5-1]', async () => {
  const times: number[] = []
  const look = (request: Request): Response | undefined => {
    if (!isCall(request)) return undefined
    times.push(performance.now())
    return times.length === 1 ? new Response('', { status: 429, headers: { 'retry-after': '1' } }) : undefined
  }
  expect(await client({ fetch: behind(look) }).call('work')).toBe('done')
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(995)
})

test('what was read with old credentials is not answered from the cache after new ones came', async () => {
  let valid = 'Bearer one'
  let reads = 0
  const held = client({
    fetch: behind((request) => {
      if (request.headers.get('authorization') !== valid) return new Response('', { status: 401 })
      if (request.headers.get('mcp-method') === 'resources/read') reads++
      return undefined
    }),
    auth: testAuth('one', () => 'two'),
  })
  await held.read('note://kept')
  await held.read('note://kept')
  expect(reads).toBe(1)
  valid = 'Bearer two'
  await held.call('work')
  await held.read('note://kept')
  expect(reads).toBe(2)
})

test('many requests whose credentials are not taken any more ask for others once [S2-8.5-5]', async () => {
  let valid = 'Bearer one'
  const look = (request: Request): Response | undefined =>
    request.headers.get('authorization') === valid ? undefined : new Response('', { status: 401 })
  const auth = testAuth('one', async () => {
    await new Promise(setImmediate)
    return 'two'
  })
  const held = client({ fetch: behind(look), auth })
  expect(await held.call('work')).toBe('done')
  valid = 'Bearer two'
  expect(await Promise.all([1, 2, 3, 4].map(() => held.call('work')))).toEqual([
    'done',
    'done',
    'done',
    'done',
  ])
  expect(auth.asked.renewals).toBe(1)
  expect(await held.call('work')).toBe('done')
  expect(auth.asked.renewals).toBe(1)
})

test('credentials are also asked for when a connection is opened, once [S2-8.5-5]', async () => {
  const auth = testAuth(undefined, () => 'x')
  const other = testAuth(undefined, () => 'x')
  const options = (good: boolean): ConnectOptions => ({
    fetch: behind((request) =>
      good && request.headers.get('authorization') === 'Bearer x'
        ? undefined
        : new Response('', { status: 401 }),
    ),
    auth: good ? auth : other,
  })
  const opened = await connect(URL_OF, options(true))
  onTestFinished(() => opened.close())
  expect(await opened.call('work')).toBe('done')
  expect(auth.asked.renewals).toBe(1)
  await expect(connect(URL_OF, options(false))).rejects.toMatchObject({
    kind: 'http_failed',
    data: { status: 401 },
  })
  expect(other.asked.renewals).toBe(1)
})

test('a server that rejects a session for now is asked again by the next request [S2-13-C7]', async () => {
  let opens = 0
  const error = { code: 1089, message: 'full', data: { refusal: { code: 1089, retryAfterMs: 5 } } }
  const full = (): Response =>
    Response.json({ jsonrpc: '2.0', id: 1, error }, { status: 503, headers: { 'retry-after': '0' } })
  const look = (): Response | undefined => (++opens <= 2 ? full() : undefined)
  expect(await client({ fetch: behind(look) }).call('work')).toBe('done')
  expect(opens).toBeGreaterThan(2)
  opens = 0
  await expect(connect(URL_OF, { fetch: behind(look) })).rejects.toMatchObject({
    refusal: 'RESOURCE_EXHAUSTED',
  })
})

test('a middleware sees one request, however often it is sent', async () => {
  let calls = 0
  const look = (request: Request): Response | undefined =>
    isCall(request) && ++calls < 3 ? new Response('', { status: 429 }) : undefined
  const held = client({ fetch: behind(look) })
  let seen = 0
  held.use('tools/call', (_, next) => {
    seen++
    return next()
  })
  expect(await held.call('work')).toBe('done')
  expect([seen, calls]).toEqual([1, 3])
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'watch at %s renews credentials that are no longer accepted, as calls do',
  async (revision) => {
    let valid = 'Bearer one'
    const auth = testAuth('one', () => 'two')
    const held = client({
      revision,
      fetch: behind((request) =>
        request.headers.get('authorization') === valid ? undefined : new Response('', { status: 401 }),
      ),
      auth,
    })
    await held.ping()
    valid = 'Bearer two'
    await new Promise<void>((resolve, reject) => {
      const watching = held.watch({ resources: ['note://kept'], onReady: resolve })
      onTestFinished(() => void watching.return().catch(() => undefined))
      watching.next().catch(reject)
    })
    expect(auth.asked.renewals).toBe(1)
  },
)

const RENEWALS: Readonly<Record<string, ConnectOptions>> = {
  'nothing renews them': {},
  'new ones are rejected too': { auth: testAuth('one', (_, times) => `next ${times}`) },
  'recovery is off': { recovery: false },
}

test.each(Object.entries(RENEWALS))(
  'watch ends with an error if the credentials are rejected and %s',
  async (_, options) => {
    let valid = true
    const held = client({
      ...options,
      fetch: behind(() => (valid ? undefined : new Response('', { status: 401 }))),
    })
    await held.ping()
    valid = false
    const watching = held.watch({ tools: true })
    await expect(watching.next()).rejects.toMatchObject({ kind: 'http_failed', data: { status: 401 } })
  },
)

test('watch ends with the error of a failed login, and does not log in again', async () => {
  const auth = testAuth('one')
  let valid = true
  const held = client({ auth, fetch: behind(() => (valid ? undefined : new Response('', { status: 401 }))) })
  await held.ping()
  valid = false
  const watching = held.watch({ tools: true })
  await expect(watching.next()).rejects.toMatchObject({ kind: 'login_failed' })
  expect(auth.asked.renewals).toBe(1)
})

test('watch goes on if credentials are rejected only now and then', async () => {
  const params = { notifications: { toolsListChanged: true } }
  const acknowledged = { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }
  const statuses: number[] = []
  const fetch = behind((request) => {
    if (request.headers.get('mcp-method') !== 'subscriptions/listen') return undefined
    const status = statuses.length % 2 === 0 ? 200 : 401
    statuses.push(status)
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(`data: ${JSON.stringify(acknowledged)}\n\n`, { status, headers })
  })
  const watching = client({ fetch }).watch({ tools: true })
  // With each stream, changes may have been missed.
  for (let changes = 0; changes < 3; changes++) await watching.next()
  await watching.return()
  expect(statuses).toEqual([200, 401, 200, 401, 200])
})
