import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKeys, bearer, digestApiKey, oauth } from '../../src/auth.ts'
import { expectRejected, guard } from './guarded.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
let issuer: SmallIssuer

beforeAll(async () => {
  issuer = await startSmallIssuer(resource)
})
afterAll(() => issuer.close())

function linesOf(log: string): readonly string[] {
  return log.split('\n').filter((line) => line.startsWith('warning: a token was rejected'))
}

/** Sends a token that is rejected; gives the line in the log and what the client reads. */
async function rejected(
  auth: Parameters<typeof guard>[0],
  token: string,
): Promise<{ readonly line: string; readonly described: string }> {
  const server = await guard(auth)
  const reply = await expectRejected(server, token, 401, 'invalid_token')
  const lines = linesOf(server.log())
  expect(lines).toHaveLength(1)
  const described = /error_description="([^"]*)"/.exec(reply.headers['www-authenticate'] ?? '')?.[1] ?? ''
  return { line: lines[0] as string, described }
}

test('a token for another audience is logged with both audiences, and what to correct', async () => {
  const { line, described } = await rejected(
    oauth({ issuer: issuer.url, resource }),
    await issuer.sign({ aud: 'https://mcp.example' }),
  )
  expect(line).toContain(
    'it is for "https://mcp.example" (aud), not for "https://mcp.example/mcp"; correct resource or audience, or the settings of the issuer',
  )
  expect(line).toContain('"ip":"127.0.0.1"')
  expect(described).toBe('it is meant for another server')
})

test('a token without an audience is logged as such', async () => {
  const { line } = await rejected(
    oauth({ issuer: issuer.url, resource }),
    await issuer.sign({ aud: undefined }),
  )
  expect(line).toContain('it has no audience (aud), and must be for "https://mcp.example/mcp"')
})

test('a token of an unknown issuer is logged with its issuer and those that are accepted', async () => {
  const { line, described } = await rejected(
    oauth({ issuer: issuer.url, resource }),
    await issuer.sign({ iss: 'https://other.example' }),
  )
  expect(line).toContain(`its issuer (iss) is "https://other.example", and only "${issuer.url}" is accepted`)
  // Anyone may have written it, so the advice must not make a stranger's issuer look right.
  expect(line).toContain(
    'only if this is your issuer, write issuer: "https://other.example"; otherwise ignore it',
  )
  expect(described).toBe('it is from an issuer that this server does not accept')
})

test.each([
  ['a final slash', (url: string) => `${url}/`, 'a final slash counts'],
  [
    'the URL of the metadata',
    (url: string) => `${url}/.well-known/openid-configuration`,
    'is the URL of its metadata',
  ],
])('an issuer that is configured with %s gets a hint', async (_, configured, hint) => {
  const { line } = await rejected(oauth({ issuer: configured(issuer.url), resource }), await issuer.sign())
  expect(line).toContain(hint)
  expect(line).toContain(`only if this is your issuer, write issuer: "${issuer.url}"`)
})

test('an opaque token where only oauth is configured gets the hint to use introspection', async () => {
  const { line, described } = await rejected(oauth({ issuer: issuer.url, resource }), 'opaque-token-of-ann')
  expect(line).toContain('it is not a JSON Web Token; ')
  expect(line).toContain('introspection')
  expect(described).toBe('it is not a JSON Web Token')
})

test('an unknown key is logged, and with other methods an opaque token is not called a wrong JSON Web Token', async () => {
  const keys = apiKeys({ digests: { [await digestApiKey('right')]: 'ann' } })
  for (const auth of [keys, [keys, oauth({ issuer: issuer.url, resource })]]) {
    const { line, described } = await rejected(auth, 'wrong-key-of-ann')
    expect(line).toContain('it is unknown')
    expect(line).not.toContain('JSON Web Token')
    expect(described).toBe('it is unknown, or meant for another server')
  }
})

test('expired tokens are logged, and each reason on its own, once in a while', async () => {
  const server = await guard(oauth({ issuer: issuer.url, resource }))
  const past = Math.floor(Date.now() / 1000) - 1000
  for (let times = 0; times < 3; times++) {
    await expectRejected(server, await issuer.sign({ exp: past }), 401, 'invalid_token')
    await expectRejected(server, await issuer.sign({ aud: 'https://x.example' }), 401, 'invalid_token')
  }
  expect(linesOf(server.log()).map((line) => line.split('; ', 1)[0])).toEqual([
    expect.stringContaining('it expired'),
    expect.stringContaining('it is for "https://x.example"'),
  ])
})

test('what a token claims is clipped, and cannot break lines of the log', async () => {
  const { line } = await rejected(
    oauth({ issuer: issuer.url, resource }),
    await issuer.sign({ iss: `https://a.example/\u2028\u001b[31m${'x'.repeat(5000)}` }),
  )
  expect(line.length).toBeLessThan(1500)
  for (const character of ['\u2028', '\u001b']) expect(line).not.toContain(character)
})

test('different failures of a verifier are both logged', async () => {
  const answers = [() => Promise.reject(new Error('the directory is down')), () => ({ sub: 5 }) as never]
  const server = await guard(bearer(() => answers.shift()?.()))
  for (const token of ['one', 'two']) await expectRejected(server, token, 503, undefined)
  expect(server.log()).toContain('the directory is down')
  expect(server.log()).toContain('must return { sub, scopes, expiresAt }')
})
