import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { apiKeys, createApiKey, digestApiKey, oauth } from '../../src/auth.ts'
import { processorMs } from '../harness/processor.ts'
import { as, callTool, listen, RESOURCE, textOf } from './server.ts'

const hash = (key: string, encoding: 'hex' | 'base64url' | 'base64'): string =>
  createHash('sha256').update(key).digest(encoding)

test('a key identifies its owner, by a digest in base64url or hexadecimal', async () => {
  const [ann, bob, eve] = [createApiKey(), createApiKey(), createApiKey()]
  const digests = {
    [await digestApiKey(ann)]: { sub: 'ann', scopes: ['read'] },
    [hash(bob, 'hex')]: 'bob',
    [hash(eve, 'hex').toUpperCase()]: { sub: 'eve' },
  }
  const { url } = await listen(apiKeys({ digests }))
  for (const [key, auth] of [
    [ann, { sub: 'ann', scopes: ['read'] }],
    [bob, { sub: 'bob', scopes: [] }],
    [eve, { sub: 'eve', scopes: [] }],
  ] as const)
    expect(JSON.parse(await textOf(await callTool(url, 'auth', as(key))))).toEqual(auth)
  expect((await callTool(url, 'read', as(ann))).status).toBe(200)
  expect((await callTool(url, 'read', as(bob))).status).toBe(403)
})

test.each<readonly [string, (key: string) => string]>([
  ['another key', () => createApiKey()],
  ['the digest instead of the key', (key) => hash(key, 'base64url')],
  ['the beginning of a key', (key) => key.slice(0, -1)],
  ['a longer text', (key) => `${key}A`],
  ['another case', (key) => (key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase())],
])('%s gets 401', async (_, wrong) => {
  const key = createApiKey()
  const { url } = await listen(apiKeys({ digests: { [await digestApiKey(key)]: 'ann' } }))
  expect((await callTool(url, 'who', as(wrong(key)))).status).toBe(401)
  expect((await callTool(url, 'who', as(key))).status).toBe(200)
})

test('keys are random, and their digests are SHA-256', async () => {
  const keys = new Set(Array.from({ length: 100 }, createApiKey))
  expect(keys.size).toBe(100)
  for (const key of keys) expect(key).toMatch(/^key_[\w-]{43}$/)
  expect(await digestApiKey('abc')).toBe(hash('abc', 'base64url'))
})

test('a revoked owner is rejected, whichever of its keys is used, until the server starts again', async () => {
  const [one, two, other] = [createApiKey(), createApiKey(), createApiKey()]
  const auth = apiKeys({
    digests: {
      [await digestApiKey(one)]: 'ann',
      [await digestApiKey(two)]: 'ann',
      [await digestApiKey(other)]: 'bob',
    },
  })
  const { app, url } = await listen(auth)
  const statuses = (at: string): Promise<number[]> =>
    Promise.all([one, two, other].map(async (key) => (await callTool(at, 'who', as(key))).status))
  await callTool(url, 'who', as(one))
  void app.revoke({ sub: 'ann' })
  expect(await statuses(url)).toEqual([401, 401, 200])
  expect(await statuses((await listen(auth)).url)).toEqual([200, 200, 200])
})

test.each<readonly [string, object, string]>([
  ['no digests', {}, 'digests is missing'],
  ['an empty object', { digests: {} }, 'digests is empty'],
  ['a list', { digests: ['x'] }, 'digests must be an object'],
  [
    'keys instead of digests',
    { digests: { 'my-secret-key': 'ann' } },
    'if it is a key, write [await digestApiKey(key)]',
  ],
  [
    'a key of createApiKey',
    { digests: { [createApiKey()]: 'ann' } },
    'if it is a key, write [await digestApiKey(key)]',
  ],
  [
    'a digest of another function',
    { digests: { [hash('x', 'hex').slice(24)]: 'ann' } },
    'is not a SHA-256 digest',
  ],
  ['an owner without a subject', { digests: { [hash('x', 'hex')]: { scopes: [] } } }, 'sub is missing'],
  [
    'scopes in one text',
    { digests: { [hash('x', 'hex')]: { sub: 'a', scopes: 'a b' } } },
    'scopes must be a list',
  ],
  [
    'two scopes in one element',
    { digests: { [hash('x', 'hex')]: { sub: 'a', scopes: ['read write'] } } },
    'visible ASCII characters without spaces',
  ],
  ['an empty subject', { digests: { [hash('x', 'hex')]: '' } }, 'sub must be a string that is not empty'],
  [
    'an owner that is a number',
    { digests: { [hash('x', 'hex')]: 7 } },
    `expected a subject, or { sub: 'ann'`,
  ],
  [
    'an owner with a wrong name',
    { digests: { [hash('x', 'hex')]: { sub: 'a', scope: [] } } },
    'did you mean "scopes"?',
  ],
])('%s is an error, which repeats no key', (_, options, problem) => {
  const create = (): unknown => apiKeys(options as never)
  expect(create).toThrow(problem)
  expect(create).not.toThrow(/my-secret-key|key_/)
})

test('finding the owner of a key takes no longer with many keys', async () => {
  const spend = async (count: number): Promise<number> => {
    const digests = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [hash(`key ${at}`, 'hex'), `u${at}`]),
    )
    const { verify } = apiKeys({ digests })
    expect(await verify('key 0', {} as never)).toMatchObject({ auth: { sub: 'u0' } })
    return processorMs(async () => {
      for (let at = 0; at < 200; at++) expect(await verify(`unknown ${at}`, {} as never)).toBeUndefined()
    })
  }
  await spend(1)
  const few = await spend(1)
  expect(await spend(20_000)).toBeLessThan(10 * few + 50)
})

test('beside a method with metadata, challenges and metadata leave out the scopes that only keys have', async () => {
  const key = createApiKey()
  const digests = { [await digestApiKey(key)]: 'job' }
  const { url } = await listen([
    apiKeys({ digests, scopes: ['jobs:run'] }),
    oauth({ issuer: 'https://id.example', resource: RESOURCE, scopes: ['notes:read'] }),
  ])
  for (const [headers, status, text] of [
    [{}, 401, 'no credentials'],
    [as('wrong'), 401, 'not accepted'],
    [as(key), 403, 'the caller lacks jobs:run'],
  ] as const) {
    const reply = await callTool(url, 'who', headers)
    expect(reply.status).toBe(status)
    expect(reply.headers.get('www-authenticate')).toContain(' scope="notes:read"')
    expect(await reply.text()).toContain(text)
  }
  const reply = await fetch(new URL('/.well-known/oauth-protected-resource', url))
  expect(await reply.json()).toMatchObject({ scopes_supported: ['notes:read'] })
})

test('keys alone have challenges with their scopes', async () => {
  const key = createApiKey()
  const { url } = await listen(
    apiKeys({ digests: { [await digestApiKey(key)]: 'job' }, scopes: ['jobs:run'] }),
  )
  for (const headers of [{}, as(key)])
    expect((await callTool(url, 'who', headers)).headers.get('www-authenticate')).toContain(
      'scope="jobs:run"',
    )
})
