import { expect, test } from 'vitest'
import { findResource, type FoundResource } from '../../src/auth/client/resource.ts'
import { localFetch, startSite, type Site } from './net-site.ts'

const ROOT = '/.well-known/oauth-protected-resource'

async function find(
  site: Site,
  metadataUrl?: string,
  path = '/mcp',
  steps: string[] = [],
): Promise<FoundResource> {
  const server = new URL(site.origin + path)
  return findResource({ server, metadataUrl, fetch: localFetch, step: (text) => steps.push(text) })
}

const metadata = (resource: unknown, more: object = {}): { readonly json: object } => ({
  json: { resource, authorization_servers: ['https://issuer.example'], ...more },
})

test('the client looks in the challenge, then at the path, then at the root [R275]', async () => {
  const site = await startSite((origin) => ({
    '/named': metadata(`${origin}/mcp`, { authorization_servers: ['https://named.example'] }),
    [`${ROOT}/mcp`]: metadata(`${origin}/mcp`, { authorization_servers: ['https://path.example'] }),
    [ROOT]: metadata(origin, { authorization_servers: ['https://root.example'] }),
  }))
  const named = `${site.origin}/named`
  expect((await find(site, named)).issuers).toEqual(['https://named.example'])
  expect(site.requests.splice(0)).toEqual(['/named'])
  expect((await find(site)).issuers).toEqual(['https://path.example'])
  expect(site.requests.splice(0)).toEqual([`${ROOT}/mcp`])
  site.pages.delete(`${ROOT}/mcp`)
  expect((await find(site)).issuers).toEqual(['https://root.example'])
  expect(site.requests.splice(0)).toEqual([`${ROOT}/mcp`, ROOT])
  site.pages.delete('/named')
  expect((await find(site, named)).issuers).toEqual(['https://root.example'])
  expect(site.requests.splice(0)).toEqual(['/named', `${ROOT}/mcp`, ROOT])
})

test('a server at the root is looked up once, and a WebSocket server over http', async () => {
  const site = await startSite(() => ({}))
  await find(site, undefined, '/')
  expect(site.requests.splice(0)).toEqual([ROOT])
  site.pages.set(`${ROOT}/mcp`, metadata(`${site.origin}/mcp`))
  const server = new URL(`${site.origin.replace('http', 'ws')}/mcp`)
  const found = await findResource({
    server,
    metadataUrl: undefined,
    fetch: localFetch,
    step: () => undefined,
  })
  expect(found.resource).toBe(`${site.origin}/mcp`)
})

test('the address of the metadata may have a query, as that of a mount has', async () => {
  const site = await startSite((origin) => ({ [`/mcp?${ROOT}`]: metadata(`${origin}/mcp`) }))
  expect((await find(site, `${site.origin}/mcp?${ROOT}`)).resource).toBe(`${site.origin}/mcp`)
})

test('the result has the issuers, the scopes, and the resource as it is published', async () => {
  const site = await startSite((origin) => ({
    [ROOT]: metadata(origin, {
      authorization_servers: ['https://one.example/', 7, 'https://two.example', 'https://two.example'],
      scopes_supported: ['a', 'b:c', 'not a scope', 8, 'a'],
    }),
  }))
  const steps: string[] = []
  expect(await find(site, undefined, '/mcp', steps)).toEqual({
    resource: site.origin,
    issuers: ['https://one.example/', 'https://two.example'],
    scopes: ['a', 'b:c'],
  })
  expect(steps).toEqual([
    `found nothing at ${site.origin}${ROOT}/mcp: status 404`,
    `read the metadata of the server at ${site.origin}${ROOT}`,
  ])
})

test('a server without metadata is its own issuer, as at 2025-03-26', async () => {
  const site = await startSite(() => ({}))
  const steps: string[] = []
  expect(await find(site, undefined, '/mcp', steps)).toEqual({
    resource: undefined,
    issuers: [site.origin],
    scopes: undefined,
  })
  expect(steps).toEqual([
    `found nothing at ${site.origin}${ROOT}/mcp: status 404`,
    `found nothing at ${site.origin}${ROOT}: status 404`,
    'took the server for its own issuer, as at 2025-03-26',
  ])
})

test('metadata without issuers leaves the server as its own', async () => {
  const site = await startSite((origin) => ({ [`${ROOT}/mcp`]: { json: { resource: `${origin}/mcp` } } }))
  const found = await find(site)
  expect(found).toEqual({ resource: `${site.origin}/mcp`, issuers: [site.origin], scopes: undefined })
})

test('if the metadata that a challenge names is nowhere, the server is not taken for an old one', async () => {
  const site = await startSite(() => ({}))
  await expect(find(site, `${site.origin}/named`)).rejects.toThrow(
    `the server names ${site.origin}/named as its metadata, and there is none`,
  )
})

test('pages, redirects and refusals in place of metadata are passed over', async () => {
  const site = await startSite((origin) => ({ [ROOT]: metadata(origin) }))
  for (const page of [
    { text: '<html>' },
    { json: ['a list'] },
    { status: 302, headers: { location: `${site.origin}/named` } },
    { status: 401 },
    { status: 405 },
  ]) {
    site.pages.set(`${ROOT}/mcp`, page)
    expect((await find(site)).resource).toBe(site.origin)
  }
})

test.each([500, 503, 429])('a status %i in place of metadata ends the search', async (status) => {
  const site = await startSite((origin) => ({ [`${ROOT}/mcp`]: { status }, [ROOT]: metadata(origin) }))
  await expect(find(site)).rejects.toThrow(`${site.origin}${ROOT}/mcp replied with status ${status}`)
  expect(site.requests).toEqual([`${ROOT}/mcp`])
})

test('C.oauth-rm-foreign metadata on another origin that a challenge names is not fetched', async () => {
  const site = await startSite(() => ({}))
  const other = await startSite((origin) => ({ '/named': metadata(origin) }))
  for (const url of [`${other.origin}/named`, `${site.origin.replace('127.0.0.1', 'localhost')}/named`])
    await expect(find(site, url)).rejects.toThrow(
      `the server at ${site.origin} names metadata at ${new URL(url).origin}, and only its own origin may have it`,
    )
  expect([site.requests, other.requests]).toEqual([[], []])
})

test.each([
  'file:///etc/passwd',
  'gopher://127.0.0.1/x',
  'javascript:alert(1)',
  'data:,x',
  '/named',
  '',
  '\u001b[2J',
])('C.oauth-rm-scheme metadata at %j that a challenge names is not used', async (url) => {
  const site = await startSite(() => ({}))
  const failure = await find(site, url).catch((error: unknown) => error as Error)
  expect((failure as Error).message).toMatch(/is not an http or https URL|names metadata at/)
  expect((failure as Error).message).not.toContain('\u001b')
  expect(site.requests).toEqual([])
})

test('a metadata URL with credentials is refused', async () => {
  const site = await startSite(() => ({}))
  const url = site.origin.replace('http://', 'http://me:secret@')
  await expect(find(site, `${url}/named`)).rejects.toThrow('is not an http or https URL without credentials')
  expect(site.requests).toEqual([])
})

test.each<readonly [(origin: string) => unknown, string]>([
  [() => 'https://evil.example/mcp', '/mcp'],
  [(origin) => `${origin}/other`, '/mcp'],
  [(origin) => `${origin}/mc`, '/mcp'],
  [(origin) => `${origin}/mcp/deeper`, '/mcp'],
  [(origin) => `${origin}/mcp#part`, '/mcp'],
  [(origin) => `${origin}/mcp?tenant=2`, '/mcp?tenant=1'],
  [(origin) => origin.replace('http', 'https'), '/mcp'],
  [(origin) => origin.replace('127.0.0.1', 'localhost'), '/mcp'],
  [(origin) => origin.replace('http://', 'http://me@'), '/mcp'],
  [() => undefined, '/mcp'],
  [() => 7, '/mcp'],
  [() => '', '/mcp'],
  [() => '\u001b[2J', '/mcp'],
])(
  'C.oauth-resource C.oauth-rm-path metadata of another resource is rejected (%#)',
  async (resourceOf, path) => {
    const site = await startSite((origin) => ({
      [`${ROOT}/mcp`]: metadata(resourceOf(origin)),
      [ROOT]: metadata(origin),
    }))
    const failure = await find(site, undefined, path).catch((error: unknown) => error as Error)
    expect((failure as Error).message).toMatch(/is the metadata of .*, not of http/)
    expect((failure as Error).message).not.toContain('\u001b')
    expect(site.requests).toEqual([`${ROOT}/mcp`])
  },
)

test.each<readonly [string, string]>([
  ['', '/mcp'],
  ['/', '/mcp'],
  ['/mcp', '/mcp'],
  ['/mcp/', '/mcp'],
  ['/mcp', '/mcp/'],
  ['/mcp', '/mcp/v1'],
  ['/mcp', '/mcp?tenant=1'],
  ['/mcp?tenant=1', '/mcp?tenant=1'],
])('the resource %j is that of a server at %s', async (resource, path) => {
  const home = ROOT + resource.replace(/\/$|\?.*/, '')
  const site = await startSite((origin) => ({
    '/named': metadata(origin + resource),
    [home]: metadata(origin + resource),
  }))
  expect((await find(site, `${site.origin}/named`, path)).resource).toBe(site.origin + resource)
})

test('if the challenge names the metadata of another URL of the server, that of the own path counts, and not that of the root', async () => {
  const site = await startSite((origin) => ({
    [`${ROOT}/mcp`]: metadata(`${origin}/mcp`),
    [`${ROOT}/sse`]: metadata(`${origin}/sse`),
    [ROOT]: metadata(origin),
  }))
  const named = `${site.origin}${ROOT}/mcp`
  expect((await find(site, named, '/sse')).resource).toBe(`${site.origin}/sse`)
  expect(site.requests.splice(0)).toEqual([`${ROOT}/mcp`, `${ROOT}/sse`])
  site.pages.delete(`${ROOT}/sse`)
  await expect(find(site, named, '/sse')).rejects.toThrow(`is the metadata of "${site.origin}/mcp", not of`)
  expect(site.requests).toEqual([`${ROOT}/mcp`, `${ROOT}/sse`])
})

const EVIL = '/tenants/evil/mcp'

test.each([
  [EVIL, ''],
  [`${ROOT}${EVIL}`, ''],
  [`${ROOT}${EVIL}/`, '/tenants'],
  [`${ROOT}/tenants/evil`, ''],
  ['/tenants/evil/metadata', '/tenants'],
  ['/tenants/metadata?/.well-known/oauth-protected-resource', ''],
  ['/%74enants/evil', ''],
  ['//Tenants/evil', ''],
  [`/.well-known//oauth-protected-resource${EVIL}`, ''],
  ['/tenants%2fevil', ''],
  ['/%/tenants', ''],
  ['/tenants;v=1/metadata', ''],
  ['/%2574enants/evil', ''],
  ['/index?path=/tenants/evil', ''],
  ['/files/evil/metadata.json', ''],
  ['/~evil/metadata.json', '/tenants'],
  ['/?route=/tenants/evil', ''],
  ['/static-tenants/metadata.json', ''],
  ['/other', ''],
  ['/other', '/tenants'],
  ['/custom/metadata/location.json', ''],
  [`${ROOT}/other`, ''],
])('C.oauth-rm-parent a document at %j must not name the resource %j for a tenant', async (place, parent) => {
  const site = await startSite((origin) => ({ [place]: metadata(origin + parent) }))
  const failure = await find(site, site.origin + place, EVIL).catch((error: unknown) => error as Error)
  expect((failure as Error).message).toContain(
    `which is more than ${site.origin}${EVIL}, and the metadata at ${site.origin}${ROOT}${parent} does not say so`,
  )
})

test.each([
  { status: 404 },
  { text: '<html>' },
  { json: ['a list'] },
  { status: 302, headers: { location: '/other' } },
])('C.oauth-rm-parent a site without metadata of its own leaves that to no tenant (%j)', async (page) => {
  const site = await startSite((origin) => ({
    '/07/card.json': metadata(origin),
    [ROOT]: page,
    [`${ROOT}/7/mcp`]: page,
  }))
  await expect(find(site, `${site.origin}/07/card.json`, '/7/mcp')).rejects.toThrow(
    `which is more than ${site.origin}/7/mcp, and the metadata at ${site.origin}${ROOT} does not say so`,
  )
})

test.each([
  '/mcp?tenant=evil&metadata',
  '/metadata?tenant=evil',
  `${ROOT}/mcp?tenant=evil`,
  '/files/evil/metadata.json',
  '/mcp/metadata.json',
  '/custom/metadata.json',
  `${ROOT}/other`,
  `${ROOT}-other`,
])('C.oauth-rm-parent a document at %j must not name the resource of all tenants', async (place) => {
  const site = await startSite((origin) => ({ [place]: metadata(`${origin}/mcp`) }))
  const failure = find(site, site.origin + place, '/mcp?tenant=evil')
  await expect(failure).rejects.toThrow(
    `which is more than ${site.origin}/mcp with its query, and the metadata at`,
  )
})

test.each([`${ROOT}/mcp`, ROOT, '/mcp'])(
  'a document at %j, which no tenant has put there, may name the resource of all tenants',
  async (place) => {
    const site = await startSite((origin) => ({ [place]: metadata(`${origin}/mcp`) }))
    const { resource } = await find(site, site.origin + place, '/mcp?tenant=one')
    expect(resource).toBe(`${site.origin}/mcp`)
  },
)

test('a query with escapes leaves the well-known documents as they are', async () => {
  const site = await startSite((origin) => ({ [ROOT]: metadata(`${origin}/mcp`) }))
  expect((await find(site, undefined, '/mcp?key=a%20b')).resource).toBe(`${site.origin}/mcp`)
  site.pages.set('/custom', metadata(`${site.origin}/mcp`))
  await expect(find(site, `${site.origin}/custom`, '/mcp?key=a%20b')).rejects.toThrow('which is more than')
})

test('C.oauth-rm-parent if the well-known document of a parent is about it, that document counts', async () => {
  const issuers = (name: string): object => ({ authorization_servers: [`https://${name}.example`] })
  const site = await startSite((origin) => ({
    '/named': metadata(`${origin}/`, issuers('named')),
    [`${ROOT}${EVIL}`]: metadata(`${origin}/tenants`, issuers('evil')),
    [`${ROOT}/tenants`]: metadata(`${origin}/tenants`, issuers('good')),
    [ROOT]: metadata(`${origin}/other`, issuers('root')),
  }))
  expect(await find(site, undefined, EVIL)).toMatchObject({
    resource: `${site.origin}/tenants`,
    issuers: ['https://good.example'],
  })
  expect(site.requests.splice(0)).toEqual([`${ROOT}${EVIL}`, `${ROOT}/tenants`])
  // A site that publishes metadata, but not of all of it, does not leave that to others.
  site.pages.delete(`${ROOT}${EVIL}`)
  await expect(find(site, `${site.origin}/named`, EVIL)).rejects.toThrow('which is more than')
  expect(site.requests).toEqual(['/named', ROOT, `${ROOT}${EVIL}`])
})

test('the server at the root of a site may describe the site at its own address', async () => {
  const place = `/?${ROOT}`
  const site = await startSite((origin) => ({ [place]: metadata(origin), [ROOT]: { status: 404 } }))
  expect((await find(site, site.origin + place)).resource).toBe(site.origin)
  expect(site.requests).toEqual([place])
})
