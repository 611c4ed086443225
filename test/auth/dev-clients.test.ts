import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { Documents } from '../../src/auth/dev/documents.ts'
import { fetchDocument } from '../../src/auth/dev/fetch-document.ts'
import { Flow, newClient, openPage, post, REDIRECT, register, serve, startDev } from './dev-flow.ts'

test.each([
  ['data:text/html,x', 'uses the scheme data'],
  ['file:///etc/passwd', 'uses the scheme file'],
  [
    'cursor://callback',
    "uses the scheme cursor; use https, or http on 127.0.0.1, or allow it: devAuth({ redirectSchemes: ['cursor'] })",
  ],
  ['http://app.example/cb', 'uses http on a host that is not this computer'],
  ['https://app.example/cb#x', 'has a fragment'],
  ['https://me:secret@app.example/cb', 'contains a user name or a password'],
  ['callback', 'is not a URL'],
  [`https://app.example/${'x'.repeat(2_048)}`, 'is not a URL of at most'],
])('a registration with the redirect %s is rejected', async (uri, fault) => {
  const dev = await startDev()
  const { status, body } = await register(dev, { redirect_uris: [REDIRECT, uri] })
  expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_redirect_uri' })
  expect(body['error_description']).toContain(`redirect_uris[1] ${fault}`)
})

test('[A.dcr-javascript] a registration with a javascript redirect is rejected', async () => {
  const dev = await startDev()
  const { status, body } = await register(dev, { redirect_uris: ['javascript:alert(1)'] })
  expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_redirect_uri' })
  expect(body['error_description']).toBe(
    'redirect_uris[0] uses the scheme javascript; use https, or http on 127.0.0.1',
  )
})

test('the scheme of an app can be allowed', async () => {
  const dev = await startDev({ redirectSchemes: ['cursor'] })
  const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback'
  const flow = new Flow(dev, await newClient(dev, { redirect_uris: [redirect_uri] }))
  expect(await dev.login(flow.url({ redirect_uri }), { sub: 'alice' })).toContain(`${redirect_uri}?code=`)
  const { response } = await openPage(flow.url({ redirect_uri }))
  expect(response.headers.get('content-security-policy')).toContain("form-action 'self' cursor:;")
})

test.each([
  [{ redirect_uris: [] }, 'invalid_redirect_uri'],
  [{ redirect_uris: 'https://app.example' }, 'invalid_redirect_uri'],
  [{ redirect_uris: Array.from({ length: 11 }, () => REDIRECT) }, 'invalid_redirect_uri'],
  [{}, 'invalid_redirect_uri'],
  [[], 'invalid_client_metadata'],
  [{ redirect_uris: [REDIRECT], client_name: 'x'.repeat(201) }, 'invalid_client_metadata'],
  [{ redirect_uris: [REDIRECT], client_name: 1 }, 'invalid_client_metadata'],
  [{ redirect_uris: [REDIRECT], grant_types: ['implicit'] }, 'invalid_client_metadata'],
  [{ redirect_uris: [REDIRECT], response_types: ['token'] }, 'invalid_client_metadata'],
  [{ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
])('a registration with %o is rejected', async (metadata, error) => {
  expect(await register(await startDev(), metadata)).toMatchObject({ status: 400, body: { error } })
})

test('a registration that is too long, not JSON or of another type is rejected', async () => {
  const { issuer } = await startDev()
  const send = (body: string, type: string): Promise<Response> =>
    fetch(`${issuer}/register`, { method: 'POST', headers: { 'content-type': type }, body })
  expect((await send('{', 'application/json')).status).toBe(400)
  expect((await send('{}', 'text/plain')).status).toBe(400)
  expect((await send(' '.repeat(70_000), 'application/json')).status).toBe(413)
})

test('registrations that nobody uses make room for others', async () => {
  const dev = await startDev()
  const first = await newClient(dev)
  const statuses = new Set<number>()
  for (let count = 0; count < 250; count++)
    statuses.add((await register(dev, { redirect_uris: [REDIRECT] })).status)
  expect([...statuses]).toEqual([201])
  // Its id contains its registration.
  expect(await new Flow(dev, first).code()).toEqual(expect.any(String))
})

test('[A.dcr-flood] 100 registrations can be in use at once, for a day or until their grants are revoked', async () => {
  const dev = await startDev()
  const use = async (): Promise<() => Promise<unknown>> => {
    const flow = new Flow(dev, await newClient(dev))
    const { body } = await flow.exchange(await flow.code())
    const token = body['refresh_token'] as string
    return () => post(dev, '/revoke', { token, client_id: flow.clientId })
  }
  const again = (): ReturnType<typeof register> => register(dev, { redirect_uris: [REDIRECT] })
  const revokes = await Promise.all(Array.from({ length: 99 }, use))
  for (const expected of [201, 201]) expect((await again()).status).toBe(expected)
  await use()
  const refused = await again()
  expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
  await revokes[50]?.()
  expect((await again()).status).toBe(201)
  await use()
  expect((await again()).status).toBe(429)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_001 })
  const later = await again()
  vi.useRealTimers()
  expect(later.status).toBe(201)
})

interface Document {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: (url: string) => unknown
}

/** Serves the metadata document of a client. Returns its URL, and how often it was fetched. */
async function publish({ status = 200, headers = {}, body }: Document): Promise<{
  readonly url: string
  readonly count: () => number
}> {
  let count = 0
  const origin = await serve((_request: IncomingMessage, response: ServerResponse) => {
    count++
    const content = body(`${origin}/client.json`)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof content === 'string' ? content : JSON.stringify(content))
  })
  return { url: `${origin}/client.json`, count: () => count }
}

const valid = (client_id: string): object => ({
  client_id,
  client_name: 'Documented',
  redirect_uris: [REDIRECT],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
})

test('a client can be described by a document on this computer, which is fetched once', async () => {
  const dev = await startDev()
  const { url, count } = await publish({ body: valid })
  const flow = new Flow(dev, url)
  const { status, body } = await flow.exchange(await flow.code())
  expect(status).toBe(200)
  expect((await flow.refresh(body['refresh_token'])).status).toBe(200)
  expect(count()).toBe(1)
})

test.each([
  ['max-age=60', 1],
  ['no-store', 2],
  ['max-age=0', 2],
])('a document with Cache-Control %s is fetched %i times for two logins', async (cacheControl, times) => {
  const dev = await startDev()
  const { url, count } = await publish({ body: valid, headers: { 'cache-control': cacheControl } })
  await new Flow(dev, url).login()
  await new Flow(dev, url).login()
  expect(count()).toBe(times)
})

test.each(['/token', '/revoke', '/introspect'])(
  '%s fetches no document, and says the same about every URL',
  async (path) => {
    const dev = await startDev()
    const open = await publish({ body: valid })
    const secret = await publish({ body: valid, status: 418 })
    const urls = [
      open.url,
      secret.url,
      'http://127.0.0.1:1/client.json',
      'https://10.1.2.3/client.json',
      'https://name.invalid/client.json',
      'http://app.example/client.json',
    ]
    const replies = urls.map(async (client_id) => {
      const form = { client_id, token: 'x', grant_type: 'refresh_token', refresh_token: 'x' }
      const { status, body } = await post(dev, path, form, { origin: 'https://evil.example' })
      return JSON.stringify({ status, body })
    })
    expect(new Set(await Promise.all(replies)).size).toBe(1)
    expect([open.count(), secret.count()]).toEqual([0, 0])
  },
)

test('a client whose document must not be kept exchanges its code, refreshes and revokes without another fetch', async () => {
  const dev = await startDev()
  const { url, count } = await publish({ body: valid, headers: { 'cache-control': 'no-store' } })
  const flow = new Flow(dev, url)
  const { body } = await flow.exchange(await flow.code())
  const refreshed = await flow.refresh(body['refresh_token'])
  expect([refreshed.status, count()]).toEqual([200, 1])
  await post(dev, '/revoke', { token: String(refreshed.body['refresh_token']), client_id: url })
  expect(await flow.refresh(refreshed.body['refresh_token'])).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })
})

test('a client whose document does not name refresh tokens gets none', async () => {
  const dev = await startDev()
  const body = (id: string): object => ({ ...valid(id), grant_types: ['authorization_code'] })
  const { url } = await publish({ body, headers: { 'cache-control': 'no-store' } })
  const flow = new Flow(dev, url)
  const reply = await flow.exchange(await flow.code())
  expect(reply.status).toBe(200)
  expect(reply.body).not.toHaveProperty('refresh_token')
})

test('at most 20 documents are fetched at the same time', async () => {
  const waiting: (() => void)[] = []
  const documents = new Documents([], async () => {
    await new Promise<void>((resolve) => void waiting.push(resolve))
    return { text: '', cacheControl: undefined }
  })
  const get = (number: number): Promise<unknown> =>
    documents.get(`https://app.example/${number}`).catch((error: unknown) => error)
  const first = Array.from({ length: 20 }, (_, number) => get(number))
  const joined = get(0)
  expect(await get(20)).toMatchObject({ code: 'temporarily_unavailable', status: 503 })
  expect(waiting).toHaveLength(20)
  for (const end of waiting.splice(0)) end()
  await Promise.all([...first, joined])
  const later = get(20)
  waiting[0]?.()
  expect(await later).toMatchObject({ code: 'invalid_client' })
})

test('a document that cannot be used is fetched again with the next login', async () => {
  const dev = await startDev()
  let isReady = false
  const { url } = await publish({ body: (id) => (isReady ? valid(id) : 'no') })
  await expect(new Flow(dev, url).login()).rejects.toThrow('is not a JSON object')
  isReady = true
  expect((await new Flow(dev, url).login()).get('code')).not.toBeNull()
})

test.each<[string, Document, string]>([
  [
    'names another client',
    { body: () => valid('https://other.example/client.json') },
    'its own URL as client_id',
  ],
  [
    'has another redirect',
    { body: (id) => ({ ...valid(id), redirect_uris: ['http://127.0.0.1/x'] }) },
    'redirect_uri',
  ],
  [
    'has a bad redirect',
    { body: (id) => ({ ...valid(id), redirect_uris: ['javascript:1'] }) },
    'scheme javascript',
  ],
  ['is too long', { body: (id) => ({ ...valid(id), more: 'x'.repeat(5_120) }) }, 'longer than 5120 bytes'],
  ['is not JSON', { body: () => '<html>' }, 'is not a JSON object'],
  ['has another type', { body: valid, headers: { 'content-type': 'text/html' } }, 'its type is not JSON'],
  ['is missing', { body: valid, status: 404 }, 'status 404, not 200'],
  ['is elsewhere', { body: valid, status: 302, headers: { location: '/other' } }, 'status 302, not 200'],
  [
    'contains a secret',
    { body: (id) => ({ ...valid(id), client_secret: 'x' }) },
    'must not contain a secret',
  ],
  ['has no name', { body: (id) => ({ ...valid(id), client_name: undefined }) }, 'must have a client_name'],
  [
    'needs a key',
    { body: (id) => ({ ...valid(id), token_endpoint_auth_method: 'private_key_jwt' }) },
    'none here',
  ],
])('a document that %s is rejected', async (_, document, message) => {
  const dev = await startDev()
  const { url } = await publish(document)
  await expect(new Flow(dev, url).login()).rejects.toThrow(message)
  const { response } = await openPage(new Flow(dev, url).url())
  expect(response.status).toBe(400)
})

test.each([
  ['http://app.example/client.json', 'must use https'],
  ['https://app.example', 'must have a path'],
  ['https://app.example/', 'must have a path'],
  ['https://me:secret@app.example/client.json', 'must not contain a user name or a password'],
  ['https://app.example/client.json#x', 'must not have a fragment'],
  ['https://app.example/a/../client.json', 'must not have the path segments'],
  ['https://app.example/a/%2e%2e/client.json', 'must not have the path segments'],
  ['https://192.168.0.1/client.json', 'its address 192.168.0.1 is not public'],
  ['https://169.254.169.254/client.json', 'its address 169.254.169.254 is not public'],
  ['https://[fd00::1]/client.json', 'its address fd00::1 is not public'],
  ['https://2130706433:1/client.json', 'ECONNREFUSED'],
])('the client id %s is rejected', async (id, message) => {
  const dev = await startDev()
  await expect(new Flow(dev, id).login()).rejects.toThrow(message)
})

test('a name that does not resolve is an error of the document, not of the program', async () => {
  const failure = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), { code: 'ENOTFOUND' })
  const fetched = fetchDocument(new URL('https://nowhere.invalid/client.json'), (_name, _options, done) =>
    (done as (error: Error) => void)(failure),
  )
  await expect(fetched).rejects.toThrow('ENOTFOUND')
})

test('[A.cimd-address] another name that resolves to this computer is refused before anything is sent', async () => {
  let requests = 0
  const origin = await serve((_request, response) => {
    requests++
    response.end()
  })
  const addresses = [
    { address: '1.1.1.1', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]
  const url = new URL(`http://app.example:${new URL(origin).port}/client.json`)
  const fetched = fetchDocument(url, (_name, _options, done) => done(null, addresses))
  await expect(fetched).rejects.toThrow('its address 127.0.0.1 is not public')
  expect(requests).toBe(0)
})
