import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { changeMetadata, logIn, record } from './engine-issuer.ts'
import { expire, startWorld } from './engine-world.ts'

test('the resource is part of the authorization request and of every token request, exactly as published, and must be that of the server [R278] [S4-1-4] [S4-7-6]', async () => {
  const world = await startWorld()
  const tokens = record(world.issuer, '/token')
  await world.call('who')
  await expire(world.vault)
  await world.call('who')
  const sent = tokens.map(({ body }) => new URLSearchParams(body))
  expect(sent.map((form) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token'])
  for (const params of [world.issuer.requests[0], ...sent])
    expect(params?.getAll('resource')).toEqual([world.server.url.href])

  const other = await startWorld()
  const { oauth } = await import('../../src/auth.ts')
  other.server.protect(oauth({ issuer: other.issuer.url, resource: 'http://127.0.0.1:9/mcp' }))
  const error = await other.fail('who')
  expect(error.message).toContain('http://127.0.0.1:9')
  expect(other.issuer.log).toEqual([])
})

test('PKCE with S256 is always used, and an issuer that does not advertise it is refused [R280]', async () => {
  const world = await startWorld()
  const tokens = record(world.issuer, '/token')
  await world.call('who')
  const [asked] = world.issuer.requests
  expect(asked?.get('code_challenge_method')).toBe('S256')
  const verifier = new URLSearchParams(tokens[0]?.body).get('code_verifier') as string
  expect(verifier).toMatch(/^[\w-]{43,128}$/)
  expect(asked?.get('code_challenge')).toBe(createHash('sha256').update(verifier).digest('base64url'))
  for (const methods of [undefined, [], ['plain']]) {
    const other = await startWorld()
    await changeMetadata(other.issuer, { code_challenge_methods_supported: methods })
    expect((await other.fail('who')).message).toContain('PKCE')
    expect(other.issuer.log).toEqual([])
    expect(other.pages).toEqual([])
  }
})

const FLAG = 'authorization_response_iss_parameter_supported'

test('the issuer of an answer is compared as RFC 9207 says, also in errors, and that of the metadata always [R284]', async () => {
  for (const [isPromised, iss, isAccepted] of [
    [true, 'same', true],
    [true, 'other', false],
    [true, undefined, false],
    [undefined, 'same', true],
    [undefined, 'other', false],
    [undefined, undefined, true],
    [false, 'other', false],
    [false, undefined, true],
  ] as const) {
    const world = await startWorld()
    await changeMetadata(world.issuer, { [FLAG]: isPromised })
    const open = async (page: URL): Promise<URL> => {
      const answer = await logIn(page)
      if (iss === undefined) answer.searchParams.delete('iss')
      // Equal after normalisation, which there must not be.
      if (iss === 'other') answer.searchParams.set('iss', `${world.issuer.url}/`)
      return answer
    }
    const outcome = await world.call('who', { open }).catch(() => 'rejected')
    expect(outcome).toBe(isAccepted ? 'ann notes:read' : 'rejected')
    expect(world.issuer.log.includes('grant authorization_code')).toBe(isAccepted)
  }
  const failing = await startWorld()
  const error = await failing.fail('who', {
    open: async (page) => {
      const answer = await logIn(page, false)
      answer.searchParams.set('iss', 'https://evil.example')
      answer.searchParams.set('error_description', 'call this number')
      return answer
    },
  })
  expect(error.message).not.toContain('number')
  for (const name of ['https://evil.example', `${failing.issuer.url}/`]) {
    const world = await startWorld()
    await changeMetadata(world.issuer, { issuer: name.replace(failing.issuer.url, world.issuer.url) })
    expect((await world.fail('who')).message).toContain('is the metadata of')
    expect(world.issuer.log).toEqual([])
  }
})

test('an issuer that wants authorization requests pushed gets them, and the browser only a reference', async () => {
  const world = await startWorld({
    features: { pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true } },
  })
  const pushed = record(world.issuer, '/request')
  expect(await world.call('who')).toBe('ann notes:read')
  expect([...world.pages[0]!.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri'])
  const sent = new URLSearchParams(pushed[0]?.body)
  expect(sent.get('code_challenge_method')).toBe('S256')
  expect(sent.get('resource')).toBe(world.server.url.href)
  const other = await startWorld()
  await changeMetadata(other.issuer, {
    require_pushed_authorization_requests: true,
    pushed_authorization_request_endpoint: 'http://127.0.0.1:9/request',
  })
  expect((await other.fail('who')).message).toContain('http://127.0.0.1:9')
})

test('an issuer that only offers pushed authorization requests gets them too', async () => {
  const world = await startWorld({ features: { pushedAuthorizationRequests: { enabled: true } } })
  expect(await world.call('who')).toBe('ann notes:read')
  expect([...world.pages[0]!.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri'])
})

test.each(['http://127.0.0.1:9/request', '/none', '/broken'])(
  'a pushed authorization request that is only offered, at %s, is not needed',
  async (endpoint) => {
    const world = await startWorld()
    const url = new URL(endpoint, world.issuer.url).href
    world.issuer.instead.set('/broken', (_, response) => response.writeHead(500).end())
    await changeMetadata(world.issuer, { pushed_authorization_request_endpoint: url })
    expect(await world.call('who')).toBe('ann notes:read')
    expect(world.pages[0]?.searchParams.has('request_uri')).toBe(false)
  },
)

test('a pushed authorization request that is rejected fails the login', async () => {
  const world = await startWorld()
  world.issuer.instead.set('/push', (_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_scope"}')
  })
  await changeMetadata(world.issuer, { pushed_authorization_request_endpoint: `${world.issuer.url}/push` })
  expect((await world.fail('who')).message).toContain('invalid_scope')
  expect(world.pages).toEqual([])
})

test('each login has its own random state, and an answer with another is rejected [R288]', async () => {
  const world = await startWorld()
  await world.call('who')
  await world.call('write')
  const states = world.pages.map((page) => page.searchParams.get('state') as string)
  expect(new Set(states).size).toBe(2)
  for (const state of states) expect(state.length).toBeGreaterThanOrEqual(32)
  for (const change of [
    (params: URLSearchParams) => params.set('state', states[0] as string),
    (params: URLSearchParams) => params.delete('state'),
  ]) {
    const other = await startWorld()
    const open = async (page: URL): Promise<URL> => {
      const answer = await logIn(page)
      change(answer.searchParams)
      return answer
    }
    expect((await other.fail('who', { open })).message).toContain('state')
    expect(other.issuer.log).toEqual(['registered'])
  }
})

test('the client authenticates at the token endpoint as the metadata of the issuer says [R290]', async () => {
  for (const method of ['client_secret_basic', 'client_secret_post', 'none']) {
    const world = await startWorld({ configuration: { clientAuthMethods: [method] } })
    const tokens = record(world.issuer, '/token')
    expect(await world.call('who')).toBe('ann notes:read')
    const [{ headers, body } = { headers: {}, body: '' }] = tokens
    const form = new URLSearchParams(body)
    expect('authorization' in headers).toBe(method === 'client_secret_basic')
    expect(form.has('client_secret')).toBe(method === 'client_secret_post')
    expect(form.has('client_id')).toBe(method !== 'client_secret_basic')
  }
})
