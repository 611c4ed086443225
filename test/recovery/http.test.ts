import { expect, onTestFinished, test } from 'vitest'
import { connect, createClient, type Client, type ConnectOptions, type McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

const URL_OF = 'http://127.0.0.1:9/mcp'

/** A server in this process, with somebody before it who looks at each request first. */
function behind(look: (request: Request) => Response | undefined): typeof fetch {
  const app = createServer({ name: 'behind', version: '1', ttl: '1h', log: () => undefined })
    .tool('work', {}, () => 'done')
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

test('a bare 429 is waited out as its header says, for any request; a bare 503 only for what is idempotent [S2-13-C7] [S2-8.5-1]', async () => {
  for (const [status, idempotent, tries] of [
    [429, false, 2],
    [503, false, 1],
    [503, true, 2],
    [502, true, 1],
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
  const held = client({
    fetch: behind((request) =>
      request.headers.get('authorization') === valid ? undefined : new Response('', { status: 401 }),
    ),
    headers: { Authorization: valid },
    reauthenticate: () => ({ authorization: valid }),
  })
  let reads = 0
  held.use('resources/read', (_, next) => {
    reads++
    return next()
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
  let asked = 0
  const held = client({
    fetch: behind(look),
    headers: { Authorization: 'Bearer one' },
    async reauthenticate() {
      asked++
      await new Promise(setImmediate)
      return { authorization: valid }
    },
  })
  expect(await held.call('work')).toBe('done')
  valid = 'Bearer two'
  expect(await Promise.all([1, 2, 3, 4].map(() => held.call('work')))).toEqual([
    'done',
    'done',
    'done',
    'done',
  ])
  expect(asked).toBe(1)
  expect(await held.call('work')).toBe('done')
  expect(asked).toBe(1)
})

test('credentials are also asked for when a connection is opened, once [S2-8.5-5]', async () => {
  let asked = 0
  const options = (good: boolean): ConnectOptions => ({
    fetch: behind((request) =>
      good && request.headers.get('authorization') === 'Bearer x'
        ? undefined
        : new Response('', { status: 401 }),
    ),
    reauthenticate: () => {
      asked++
      return { authorization: 'Bearer x' }
    },
  })
  const opened = await connect(URL_OF, options(true))
  onTestFinished(() => opened.close())
  expect(await opened.call('work')).toBe('done')
  expect(asked).toBe(1)
  await expect(connect(URL_OF, options(false))).rejects.toMatchObject({
    kind: 'http_failed',
    data: { status: 401 },
  })
  expect(asked).toBe(2)
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
