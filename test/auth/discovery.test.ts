import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { oauth } from '../../src/auth/oauth.ts'
import type { Rejected } from '../../src/transport/http/server/auth-method.ts'
import { KEYS, METADATA, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
let issuer: SmallIssuer

afterEach(() => issuer.close())

async function verdict(): Promise<unknown> {
  return oauth({ issuer: issuer.url, resource }).verify(await issuer.sign())
}

async function cause(): Promise<string> {
  return ((await verdict()) as { readonly cause: Error } & Rejected).cause.message
}

test.each([
  ['', METADATA, [METADATA]],
  ['', '/.well-known/openid-configuration', [METADATA, '/.well-known/openid-configuration']],
  ['/realms/a', `${METADATA}/realms/a`, [`${METADATA}/realms/a`]],
  [
    '/realms/a',
    '/.well-known/openid-configuration/realms/a',
    [`${METADATA}/realms/a`, '/.well-known/openid-configuration/realms/a'],
  ],
  [
    '/realms/a',
    '/realms/a/.well-known/openid-configuration',
    [
      `${METADATA}/realms/a`,
      '/.well-known/openid-configuration/realms/a',
      '/realms/a/.well-known/openid-configuration',
    ],
  ],
  ['/tenant/', `${METADATA}/tenant`, [`${METADATA}/tenant`]],
])('the metadata of an issuer with the path "%s" is found at %s', async (path, at, order) => {
  issuer = await startSmallIssuer(resource, path)
  const origin = new URL(issuer.url).origin
  for (const one of [...order, `${METADATA}${path}`])
    issuer.instead.set(one, (_, response) => response.writeHead(404).end())
  issuer.instead.set(at, (_, response) =>
    response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${origin}${KEYS}` })),
  )
  expect(await verdict()).toHaveProperty('auth')
  expect(issuer.requests).toEqual([...order, KEYS])
})

test.each([
  ['a page', (response: ServerResponse) => response.end('<!doctype html>')],
  ['a redirect', (response: ServerResponse) => response.writeHead(302, { location: '/login' }).end()],
  [
    'the metadata of another issuer',
    (response: ServerResponse) => response.end('{"issuer":"https://a.example"}'),
  ],
])('an issuer that has %s at the first URL is asked at the next', async (_, reply) => {
  issuer = await startSmallIssuer(resource)
  issuer.instead.set(METADATA, (__, response) => reply(response))
  issuer.instead.set('/.well-known/openid-configuration', (__, response) =>
    response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: issuer.url + KEYS })),
  )
  expect(await verdict()).toHaveProperty('auth')
  expect(issuer.requests).toEqual([METADATA, '/.well-known/openid-configuration', KEYS])
})

test('A.metadata-issuer metadata of another issuer is not used', async () => {
  issuer = await startSmallIssuer(resource)
  for (const other of ['https://evil.example', `${issuer.url}/`, undefined, [issuer.url]]) {
    issuer.metadata = { issuer: other }
    expect(await verdict()).toHaveProperty('rejected', 'unavailable')
    expect(await cause()).toContain('write issuer exactly like this')
  }
  expect(issuer.requests).not.toContain(KEYS)
})

test('A.metadata-issuer an issuer that is not text is named by its type, however deep it is nested', async () => {
  issuer = await startSmallIssuer(resource)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  issuer.instead.set(METADATA, (_, response) => response.end(`{"issuer":${deep}}`))
  expect(await verdict()).toHaveProperty('rejected', 'unavailable')
  expect(await cause()).toContain('is the metadata of a value of type object; write issuer exactly like this')
})

test('A.metadata-url keys at a URL without https are not fetched', async () => {
  issuer = await startSmallIssuer(resource)
  for (const url of ['http://id.example/keys', 'file:///etc/passwd', 'javascript:1', '/keys', 7, undefined]) {
    issuer.metadata = { jwks_uri: url }
    expect(await cause()).toContain('has no jwks_uri with an https URL')
  }
})

test('an issuer that fails is not asked at its other URLs', async () => {
  issuer = await startSmallIssuer(resource)
  issuer.instead.set(METADATA, (_, response) => response.writeHead(500).end())
  expect(await cause()).toContain('replied with status 500')
  expect(issuer.requests).toEqual([METADATA])
})
