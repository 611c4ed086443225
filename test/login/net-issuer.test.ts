import type { AuthorizationServer } from 'oauth4webapi'
import { expect, onTestFinished, test } from 'vitest'
import { findIssuer, type IssuerQuery } from '../../src/auth/client/issuer.ts'
import { startIssuer } from '../auth/issuer.ts'
import { localFetch, startSite, type Page, type Site } from './net-site.ts'

const OAUTH = '/.well-known/oauth-authorization-server'
const OPENID = '/.well-known/openid-configuration'

function find(issuer: string, query: Partial<IssuerQuery> = {}): Promise<AuthorizationServer> {
  return findIssuer({
    issuer,
    isLegacy: false,
    fetch: localFetch,
    step: () => undefined,
    allowOrigins: [],
    allowsHttp: true,
    ...query,
  })
}

function metadata(issuer: string, more: object = {}): { readonly json: object } {
  const { origin } = new URL(issuer)
  return {
    json: {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      code_challenge_methods_supported: ['S256'],
      ...more,
    },
  }
}

const withMetadata = (more: object): Promise<Site> =>
  startSite((origin) => ({ [OAUTH]: metadata(origin, more) }))

test('the metadata of an issuer is looked up in the order of the specification [R276]', async () => {
  const site = await startSite(() => ({}))
  const order = [
    ['', [OAUTH, OPENID]],
    ['/', [OAUTH, OPENID]],
    ['/tenant/a', [`${OAUTH}/tenant/a`, `${OPENID}/tenant/a`, `/tenant/a${OPENID}`]],
  ] as const
  for (const [path, places] of order) {
    const issuer = site.origin + path
    await expect(find(issuer)).rejects.toThrow('has no metadata')
    expect(site.requests.splice(0)).toEqual(places)
    for (const [at, place] of places.entries()) {
      site.pages.set(place, metadata(issuer))
      expect((await find(issuer)).token_endpoint).toBe(`${site.origin}/token`)
      expect(site.requests.splice(0)).toEqual(places.slice(0, at + 1))
      site.pages.clear()
    }
  }
})

test('oidc-provider is found', async () => {
  const issuer = await startIssuer()
  onTestFinished(() => issuer.close())
  const steps: string[] = []
  const found = await find(issuer.url, { step: (text) => void steps.push(text) })
  expect(found.token_endpoint).toBe(`${issuer.url}/token`)
  expect(steps.at(-1)).toBe(`read the metadata of the issuer at ${issuer.url}${OAUTH}`)
})

test('an old server has metadata at the root of its host, or the default endpoints [R277]', async () => {
  const site = await startSite((origin) => ({
    [OAUTH]: metadata(origin, { token_endpoint: `${origin}/oauth/token` }),
  }))
  const query = { isLegacy: true }
  expect((await find(site.origin, query)).token_endpoint).toBe(`${site.origin}/oauth/token`)
  expect(site.requests.splice(0)).toEqual([OAUTH])
  site.pages.clear()
  expect(await find(site.origin, query)).toEqual({
    issuer: site.origin,
    authorization_endpoint: `${site.origin}/authorize`,
    token_endpoint: `${site.origin}/token`,
    registration_endpoint: `${site.origin}/register`,
  })
  expect(site.requests).toEqual([OAUTH, OPENID])
})

test('an old server may write its issuer with a final slash, and another issuer is rejected', async () => {
  const site = await startSite((origin) => ({ [OAUTH]: metadata(`${origin}/`) }))
  expect((await find(site.origin, { isLegacy: true })).issuer).toBe(`${site.origin}/`)
  site.pages.set(OAUTH, metadata('https://issuer.example'))
  await expect(find(site.origin, { isLegacy: true })).rejects.toThrow('is the metadata of')
})

test.each<readonly [string, (origin: string) => unknown]>([
  ['', () => 'https://attacker.example'],
  ['', (origin) => `${origin}/`],
  ['', (origin) => origin.replace('http', 'HTTP')],
  ['', (origin) => `${origin}/tenant`],
  ['/', (origin) => origin],
  ['/tenant', (origin) => `${origin}/tenant/`],
  ['/tenant', (origin) => `${origin}/Tenant`],
  ['/tenant', (origin) => `${origin}/%74enant`],
  ['', () => undefined],
  ['', () => 7],
  ['', () => ['a']],
  ['', () => '\u001b[2J'],
])('C.oauth-issuer metadata with another issuer is rejected (%#)', async (path, issuerOf) => {
  const site = await startSite((origin) => {
    const page = metadata(origin + path, { issuer: issuerOf(origin) })
    const end = path.replace(/\/$/, '')
    return { [OAUTH + end]: page, [OPENID + end]: page }
  })
  const failure = await find(site.origin + path).catch((error: unknown) => error as Error)
  expect((failure as Error).message).toMatch(/is the metadata of .*, not of "http/)
  expect((failure as Error).message).not.toContain('\u001b')
})

test('metadata of another issuer at one place does not hide the right one at the next', async () => {
  const site = await startSite((origin) => ({
    [OAUTH]: metadata('https://other.example'),
    [OPENID]: metadata(origin),
  }))
  expect((await find(site.origin)).issuer).toBe(site.origin)
})

test.each<Page>([
  { text: '<html>' },
  { json: [] },
  { status: 302, headers: { location: '/elsewhere' } },
  { status: 403 },
])('what is not metadata is passed over: %j', async (page) => {
  const site = await startSite((origin) => ({ [OAUTH]: page, [OPENID]: metadata(origin) }))
  expect((await find(site.origin)).issuer).toBe(site.origin)
  expect(site.requests).toEqual([OAUTH, OPENID])
})

test.each([500, 429])('a status %i ends the search', async (status) => {
  const site = await startSite((origin) => ({ [OAUTH]: { status }, [OPENID]: metadata(origin) }))
  await expect(find(site.origin, { isLegacy: true })).rejects.toThrow(`replied with status ${status}`)
})

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://me:secret@issuer.example',
  'https://issuer.example?a=b',
  'https://issuer.example#a',
  'issuer.example',
  '',
])('%j is not an issuer', async (issuer) => {
  const failure = await find(issuer).catch((error: unknown) => error as Error)
  expect((failure as Error).message).toContain('is not the URL of an issuer')
  expect((failure as Error).message).not.toContain('secret')
})

test('an http issuer is refused unless the server is on this machine', async () => {
  const site = await withMetadata({})
  await expect(find(site.origin, { allowsHttp: false })).rejects.toThrow('is not the URL of an issuer')
  expect(site.requests).toEqual([])
})

test.each<readonly [object]>([
  [{ code_challenge_methods_supported: undefined }],
  [{ code_challenge_methods_supported: [] }],
  [{ code_challenge_methods_supported: ['plain'] }],
  [{ code_challenge_methods_supported: ['s256'] }],
  [{ code_challenge_methods_supported: 'S256' }],
])('C.oauth-no-pkce an issuer that does not advertise S256 is refused: %j', async (more) => {
  const site = await withMetadata(more)
  await expect(find(site.origin)).rejects.toThrow('does not advertise PKCE with S256')
  expect((await find(site.origin, { needsPkce: false })).issuer).toBe(site.origin)
})

test('an old server need not advertise PKCE, but must not rule S256 out [R280]', async () => {
  const site = await withMetadata({ code_challenge_methods_supported: undefined })
  expect((await find(site.origin, { isLegacy: true })).token_endpoint).toBe(`${site.origin}/token`)
  for (const methods of [[], ['plain'], 'S256', null]) {
    const { origin } = await withMetadata({ code_challenge_methods_supported: methods })
    await expect(find(origin, { isLegacy: true })).rejects.toThrow('does not advertise PKCE with S256')
  }
})

test.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint'])(
  'C.oauth-token-foreign a %s on another origin is refused, unless it is allowed',
  async (member) => {
    const other = await startSite(() => ({}))
    const site = await withMetadata({ [member]: `${other.origin}/x` })
    await expect(find(site.origin)).rejects.toThrow(
      `the ${member} of the issuer ${site.origin} is on ${other.origin}; if you trust it, allow it: issuer: "${site.origin}", allowOrigins: ["${other.origin}"]`,
    )
    const found = (await find(site.origin, { allowOrigins: [other.origin] })) as unknown as Record<
      string,
      unknown
    >
    expect(found[member]).toBe(`${other.origin}/x`)
    expect(other.requests).toEqual([])
  },
)

test('C.oauth-token-foreign other ports, subdomains and schemes are other origins', async () => {
  const site = await withMetadata({})
  const { port } = new URL(site.origin)
  for (const url of [`http://localhost:${port}/x`, `http://127.0.0.1:1/x`, `https://127.0.0.1:${port}/x`]) {
    site.pages.set(OAUTH, metadata(site.origin, { token_endpoint: url }))
    await expect(find(site.origin)).rejects.toThrow('allowOrigins')
    await expect(find(site.origin, { allowOrigins: ['https://127.0.0.1.example'] })).rejects.toThrow(
      'allowOrigins',
    )
  }
})

const BAD_URLS = [
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/html,x',
  '/relative',
  '',
  7,
  'https://a@b.example/',
]

test.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint'])(
  'a %s that is not an http or https URL is refused',
  async (member) => {
    const site = await withMetadata({})
    for (const url of BAD_URLS) {
      site.pages.set(OAUTH, metadata(site.origin, { [member]: url }))
      await expect(find(site.origin)).rejects.toThrow(`the ${member} of the issuer`)
    }
  },
)

test('an authorization endpoint without TLS must be on this machine', async () => {
  const site = await withMetadata({ authorization_endpoint: 'http://login.example/authorize' })
  const allowed = { allowOrigins: ['http://login.example', 'https://login.example'] }
  await expect(find(site.origin, allowed)).rejects.toThrow('the authorization_endpoint of the issuer')
  site.pages.set(OAUTH, metadata(site.origin, { authorization_endpoint: 'https://login.example/authorize' }))
  expect((await find(site.origin, allowed)).authorization_endpoint).toBe('https://login.example/authorize')
})

test('a grant without a login does not mind where the login page of the issuer is', async () => {
  const site = await withMetadata({ authorization_endpoint: 'https://login.example/authorize' })
  expect((await find(site.origin, { needsPkce: false })).issuer).toBe(site.origin)
  await expect(find(site.origin)).rejects.toThrow('allowOrigins: ["https://login.example"]')
})

test('an issuer needs a token endpoint, and an authorization endpoint only for logins', async () => {
  const site = await withMetadata({ token_endpoint: undefined })
  await expect(find(site.origin)).rejects.toThrow('the token_endpoint of the issuer')
  const bare = { authorization_endpoint: undefined, code_challenge_methods_supported: undefined }
  site.pages.set(OAUTH, metadata(site.origin, bare))
  expect((await find(site.origin)).authorization_endpoint).toBeUndefined()
})

test('an issuer whose identifier is too long to be read is not contacted', async () => {
  const site = await startSite(() => ({}))
  await expect(find(`${site.origin}/${'x'.repeat(3_000)}`)).rejects.toThrow(
    'characters, and at most 2048 are accepted',
  )
  expect(site.requests).toEqual([])
})
