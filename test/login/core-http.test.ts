import { expect, test } from 'vitest'
import { defineAuth } from '../../src/auth/client/define-auth.ts'
import { connect, connectAll, createClient } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { serve } from '../http-client/peer.ts'
import { loginFailed, testAuth } from './core-auth.ts'
import { failure, guarded } from './core-guarded.ts'

const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** Notes what a client sends. */
function noting(seen: string[]): typeof fetch {
  return async (input, init) => {
    seen.push(`${init?.method} ${new Headers(init?.headers).get('authorization')}`)
    return fetch(input, init)
  }
}

test.each(REVISIONS)(
  'at %s every HTTP request carries the credentials in its header and none in its URL [R271] [S4-6-8]',
  async (revision) => {
    const { http: url } = await guarded()
    const seen: string[] = []
    const urls = new Set<string>()
    const watching: typeof fetch = (input, init) => {
      urls.add(new Request(input).url)
      return noting(seen)(input, init)
    }
    const auth = testAuth('good')
    const client = await connect(url, { auth, revision, fetch: watching })
    expect(await client.call('who')).toBe('good')
    // Sessions also have a stream for notifications, and end with a request of their own.
    const session = revision === '2026-07-28' ? [] : ['GET Bearer good']
    await expect.poll(() => seen).toEqual(expect.arrayContaining(session))
    await client.close()
    const verbs = new Set(seen.map((line) => line.split(' ')[0]))
    expect(verbs).toEqual(new Set(session.length === 0 ? ['POST'] : ['POST', 'GET', 'DELETE']))
    expect(new Set(seen.map((line) => line.slice(line.indexOf(' ') + 1)))).toEqual(new Set(['Bearer good']))
    expect([...urls]).toEqual([url])
  },
)

test('the method is opened once per client, with the URL and fetch of the client, and closed with it', async () => {
  const { http: url } = await guarded()
  const auth = testAuth('good')
  const client = createClient(`${url}#part`, { auth, fetch: globalThis.fetch })
  expect(auth.asked.servers).toEqual([])
  const warnings: string[] = []
  client.on('warning', (text) => warnings.push(text))
  await client.call('who')
  await client.call('who')
  expect(auth.asked.servers).toEqual([
    {
      url: new URL(url),
      fetch: globalThis.fetch,
      ownFetch: undefined,
      warn: expect.any(Function),
      loggedOut: expect.any(Function),
    },
  ])
  auth.asked.servers[0]?.warn('the token expires soon')
  expect(warnings).toEqual(['the token expires soon'])
  expect(auth.asked.closed).toBe(0)
  await client.close()
  expect(auth.asked.closed).toBe(1)
})

test('a request says what it is for, and its reply shows the challenge', async () => {
  const { http: url } = await guarded()
  const auth = testAuth('bad', () => 'good')
  await using client = await connect(url, { auth })
  expect(await client.call('who')).toBe('good')
  expect(auth.asked.requests[0]).toMatchObject({ verb: 'POST', url: new URL(url) })
  expect(auth.asked.requests[0]?.signal.aborted).toBe(false)
  expect(auth.asked.replies.map(({ status }) => status)).toEqual([401, 200, 200])
  expect(auth.asked.replies[0]?.headers.get('www-authenticate')).toContain('Bearer')
})

test('without auth, the hint of the error is the line to add', async () => {
  const { http: url } = await guarded()
  const error = await failure(connect(url))
  expect(error).toMatchObject({ kind: 'http_failed', data: { status: 401 } })
  expect(error.hint).toContain(
    "connect(url, { auth: browser() }) with import { browser } from 'pierhead/auth/client'",
  )
})

test('a login that fails is not tried again as another revision or transport', async () => {
  const { http: url } = await guarded()
  for (const options of [{}, { revision: '2025-11-25' }] as const) {
    const auth = testAuth(undefined)
    expect(await failure(connect(url, { auth, ...options }))).toMatchObject({ kind: 'login_failed' })
    expect(auth.asked.renewals).toBe(1)
  }
})

test('credentials that are rejected in the middle are renewed for all requests that wait', async () => {
  const { http: url, valid } = await guarded()
  const auth = testAuth('good', () => 'fresh')
  valid.add('fresh')
  let isExpired = false
  const expiring: typeof fetch = (input, init) => {
    const authorization = new Headers(init?.headers).get('authorization')
    return isExpired && authorization === 'Bearer good'
      ? Promise.resolve(new Response('', { status: 401 }))
      : fetch(input, init)
  }
  await using client = await connect(url, { auth, fetch: expiring })
  expect(await client.call('who')).toBe('good')
  isExpired = true
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call('who')))
  expect(new Set(answers)).toEqual(new Set(['fresh']))
  expect(auth.asked.renewals).toBe(1)
})

test('credentials of a call replace those of the connection, and its result is not cached', async () => {
  const { http: url, valid } = await guarded()
  for (const user of ['anna', 'bert']) valid.add(`${user}-1`)
  const [anna, bert] = [testAuth('anna-1'), testAuth('bert-1')]
  await using client = await connect(url, { auth: testAuth('good') })
  const read = async (options = {}): Promise<unknown> =>
    (await client.read('note://mine', options)).contents[0]
  expect(await read()).toMatchObject({ text: 'of good' })
  expect(await read({ auth: anna })).toMatchObject({ text: 'of anna' })
  expect(await read({ auth: bert })).toMatchObject({ text: 'of bert' })
  expect(await read()).toMatchObject({ text: 'of good' })
  expect(await client.call('who', {}, { auth: anna })).toBe('anna')
  expect(await client.call('who')).toBe('good')
  expect(anna.asked.servers).toHaveLength(1)
})

test('a call may bring credentials although the connection has others in its headers, or none', async () => {
  const { http: url, valid } = await guarded()
  valid.add('anna-1')
  const anna = testAuth('anna-1')
  const seen: string[] = []
  await using client = await connect(url, { headers: { Authorization: 'Bearer good' }, fetch: noting(seen) })
  expect(await client.call('who', {}, { auth: anna })).toBe('anna')
  expect(await client.call('who')).toBe('good')
  expect(seen.slice(-2)).toEqual(['POST Bearer anna-1', 'POST Bearer good'])
})

test('what was read with other credentials is not answered from the cache', async () => {
  const { http: url, valid } = await guarded()
  let token = 'good'
  valid.add('anna-1')
  const auth = defineAuth({
    name: 'token',
    open: () => ({ attempt: (_, send) => send({ authorization: `Bearer ${token}` }) }),
  })
  await using client = await connect(url, { auth })
  const read = async (): Promise<unknown> => (await client.read('note://mine')).contents[0]
  expect(await read()).toMatchObject({ text: 'of good' })
  token = 'anna-1'
  expect(await client.call('who')).toBe('anna')
  expect(await read()).toMatchObject({ text: 'of anna' })
})

test('credentials in headers and in auth contradict each other', async () => {
  const { http: url } = await guarded()
  const auth = testAuth('good')
  const error = await failure(connect(url, { auth, headers: { Authorization: 'Bearer other' } }))
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toContain('auth: testAuth() sets it; give only one of the two')
  await using client = await connect(url, { auth })
  const headers = { Authorization: 'Bearer other' }
  expect(await failure(client.call('who', {}, { headers }))).toMatchObject({ kind: 'bad_option' })
  expect(await client.call('who', {}, { headers, auth: testAuth('good') })).toBe('good')
})

test('a value that is not a method of pierhead/auth/client is rejected, in options and in targets', async () => {
  const open = (): never => expect.fail('it is not used')
  const url = 'http://127.0.0.1:1/mcp'
  const auth = { name: 'own', open } as never
  for (const connecting of [connect(url, { auth }), connect({ url, auth })])
    expect((await failure(connecting)).message).toContain(
      'auth must be a method of pierhead/auth/client, such as browser()',
    )
  expect(() => defineAuth({ name: 'own' } as never)).toThrow('open is missing')
})

test('a token that headers do not allow is an error without the token', async () => {
  const { http: url } = await guarded()
  const error = await failure(connect(url, { auth: testAuth('good\r\nx-admin: secret') }))
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toContain('line break')
  expect(JSON.stringify([error.message, error.hint, error.data])).not.toContain('secret')
})

/** A server program that tells its credentials. */
const PROGRAM = `
  let rest = ''
  const results = {
    initialize: ({ protocolVersion }) =>
      ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'program', version: '1' } }),
    'server/discover': () =>
      ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' }),
    'tools/call': () => ({ resultType: 'complete', content: [{ type: 'text', text: String(process.env.NOTES_TOKEN) }] }),
  }
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\\n')
    rest = lines.pop()
    for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
      const result = results[method]?.(params)
      const outcome = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    }
  })`

test('a program takes its credentials from the environment, and no login starts [R289]', async () => {
  const auth = testAuth('good')
  const command = { command: process.execPath, args: ['-e', PROGRAM] }
  for (const revision of REVISIONS) {
    await using client = await connect({ ...command, env: { NOTES_TOKEN: 'from env' } }, { revision })
    expect(await client.call('token')).toBe('from env')
    const error = await failure(client.call('token', {}, { auth }))
    expect(error.message).toBe('tools/call auth: it applies only to HTTP; give auth to connect instead')
    expect(await failure(connect(command, { auth, revision }))).toMatchObject({ kind: 'bad_option' })
  }
  expect(auth.asked.servers).toEqual([])
})

test('auth is rejected where it has no effect, with what to do', async () => {
  const auth = testAuth('good')
  const command = { command: process.execPath, args: ['-e', ''] }
  const error = await failure(connect(command, { auth }))
  expect(error).toMatchObject({ kind: 'bad_option' })
  expect(error.message).toBe(
    'connect auth: it applies only to http://, https://, ws://, wss://; a program takes its credentials from its environment: { command, env }',
  )
  const app = createServer({ name: 'local', version: '1' }).tool('who', {}, () => 'local')
  expect((await failure(connect(app, { auth }))).message).toContain('connect auth: it applies only to')
  expect((await failure(connect('tcp://127.0.0.1:1', { auth }))).message).toContain('remove it')
  await using client = await connect(app)
  expect((await failure(client.call('who', {}, { auth }))).message).toBe(
    'tools/call auth: it applies only to HTTP; give auth to connect instead',
  )
  expect(auth.asked.servers).toEqual([])
})

test('what is not a method is rejected with what to write', async () => {
  expect(() => createClient('http://127.0.0.1:1/mcp', { auth: 'Bearer x' as never })).toThrow(
    'auth must be a method of pierhead/auth/client, such as browser()',
  )
  expect(() => createClient('http://127.0.0.1:1/mcp', { reauthenticate: () => ({}) } as never)).toThrow(
    'there is no option "reauthenticate"; the options are',
  )
})

test('each server of a group may have its own credentials, or share a method that keeps them apart', async () => {
  const [one, two] = [await guarded(), await guarded()]
  two.valid.add('anna-1')
  const shared = testAuth('good')
  const servers = {
    one: one.http,
    two: { url: two.http, auth: testAuth('anna-1') },
    odd: { url: one.http, auth: 7 },
  }
  await using group = await connectAll(servers as never)
  expect([...group.clients.keys()]).toEqual(['two'])
  expect(group.failures.get('one')).toMatchObject({ data: { status: 401 } })
  expect(group.failures.get('odd')?.message).toContain('auth must be a method of pierhead/auth/client')
  expect(await group.call('two__who')).toBe('anna')
  const local = createServer({ name: 'local', version: '1' }).tool('who', {}, () => 'local')
  await using both = await connectAll({ one: one.http, two: two.http, local }, { auth: shared })
  expect(both.failures.size).toBe(0)
  expect(await both.call('local__who')).toBe('local')
  expect(shared.asked.servers.map(({ url }) => url.href).toSorted()).toEqual([one.http, two.http].toSorted())
})

test('credentials never follow a redirect to another origin, and each hop inside it gets its own', async () => {
  const foreign: unknown[] = []
  const other = await serve(({ headers }, response) => {
    foreign.push(headers['authorization'])
    response.writeHead(500).end()
  })
  const { http: url } = await guarded()
  for (const status of [301, 302, 303, 307, 308]) {
    const away = await serve((_, response) => void response.writeHead(status, { location: other.url }).end())
    const auth = testAuth('secret')
    expect(await failure(connect(away.url, { auth, recovery: false }))).toMatchObject({ kind: 'http_failed' })
    expect(auth.asked.requests.every((request) => request.url.origin === new URL(away.url).origin)).toBe(true)
  }
  expect(foreign).toEqual([])
  const auth = testAuth('good')
  const moving: typeof fetch = (input, init) =>
    new Request(input).url.endsWith('/old')
      ? Promise.resolve(new Response(null, { status: 308, headers: { location: '/mcp' } }))
      : fetch(input, init)
  await using client = await connect(new URL('/old', url), { auth, fetch: moving })
  expect(await client.call('who')).toBe('good')
  expect(new Set(auth.asked.requests.map((request) => request.url.pathname))).toEqual(
    new Set(['/old', '/mcp']),
  )
})

test('a login that is aborted with its request fails as the request does', async () => {
  const { http: url } = await guarded()
  const aborted: unknown[] = []
  const auth = testAuth(
    undefined,
    (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => {
          aborted.push(request.signal.reason)
          reject(loginFailed('aborted'))
        })
      }),
  )
  const controller = new AbortController()
  await using client = createClient(url, { auth: testAuth('good') })
  const call = failure(client.call('who', {}, { auth, signal: controller.signal }))
  await expect.poll(() => auth.asked.renewals).toBe(1)
  controller.abort()
  expect(await call).toMatchObject({ kind: 'cancelled' })
  expect(aborted).toEqual([expect.objectContaining({ kind: 'cancelled' })])
})

test('a client that closes while a person logs in ends the login', async () => {
  const { http: url } = await guarded()
  let isAborted = false
  const auth = testAuth(
    undefined,
    (request) => new Promise(() => request.signal.addEventListener('abort', () => (isAborted = true))),
  )
  const client = createClient(url, { auth })
  const call = failure(client.call('who'))
  await expect.poll(() => auth.asked.renewals).toBe(1)
  await client.close()
  expect(await call).toMatchObject({ kind: 'closed' })
  expect(isAborted).toBe(true)
  expect(auth.asked.closed).toBe(1)
})
