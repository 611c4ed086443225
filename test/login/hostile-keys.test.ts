import { decodeProtectedHeader } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientCredentials, type LoginMethod } from '../../src/auth-client.ts'
import { McpError } from '../../src/index.ts'
import { callTool, openAuth } from './engine-server.ts'
import { startHostile, type HostileReplies, type HostileSite, type Reply } from './hostile-site.ts'

const KEY = await crypto.subtle
  .generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  .then(({ privateKey }) => crypto.subtle.exportKey('jwk', privateKey))
const service = (): LoginMethod => clientCredentials({ clientId: 'service', key: { ...KEY, alg: 'ES256' } })

/** The names of the algorithms for which keys are created from now on. */
function createdKeys(): () => readonly unknown[] {
  const generate = vi.spyOn(crypto.subtle, 'generateKey')
  onTestFinished(() => generate.mockRestore())
  return () => generate.mock.calls.map(([algorithm]) => (algorithm as { readonly name: string }).name)
}

/** A server that wants another scope whenever it gets a token. */
function startGreedy(replies: HostileReplies = {}): Promise<HostileSite> {
  let scopes = 0
  const issuer = (): object => ({ token_endpoint_auth_methods_supported: ['private_key_jwt'] })
  const call = (): Reply => ({
    status: 403,
    challenge: `DPoP error="insufficient_scope", scope="s${scopes++}"`,
  })
  return startHostile({ call, issuer, ...replies })
}

/** The error of a call, or its status as a text. */
async function failed(auth: LoginMethod, { url }: HostileSite): Promise<McpError> {
  const opened = openAuth(auth, url)
  try {
    return await callTool(opened, url, 'who').then(
      (text) => Promise.reject(new Error(text)),
      (error: McpError) => error,
    )
  } finally {
    opened.close?.()
  }
}

/** Fails until the error is one of the client. */
async function exhaust(auth: LoginMethod, site: HostileSite): Promise<McpError> {
  for (let call = 0; call < 100; call++) {
    const error = await failed(auth, site)
    if (error instanceof McpError) return error
  }
  throw new Error('the logins never end')
}

test.each<readonly [string, (origin: string, turn: number) => string]>([
  ['one resource', (origin) => `${origin}/mcp`],
  ['another resource each time', (origin, turn) => `${origin}${['/mcp', '', '/'][turn % 3]}`],
])(
  'an issuer that changes its algorithms makes the client create one RSA key, with %s',
  async (_, resourceOf) => {
    let turn = 0
    const proofs: string[] = []
    const site = await startGreedy({
      resource: (origin) => ({
        json: {
          resource: resourceOf(origin, turn),
          authorization_servers: [origin],
          dpop_bound_access_tokens_required: true,
        },
      }),
      issuer: () => ({
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        dpop_signing_alg_values_supported: [['RS256'], ['PS256'], ['ES256']][turn++ % 3],
      }),
      token: (_form, { headers }) => {
        proofs.push(String(headers['dpop']))
        return { json: { access_token: `token-${turn}`, token_type: 'DPoP', expires_in: 3600 } }
      },
    })
    const created = createdKeys()
    const auth = service()
    for (let call = 0; call < 3; call++) await failed(auth, site)
    const headers = proofs.map((proof) => decodeProtectedHeader(proof))
    expect(headers.slice(0, 4).map(({ alg }) => alg)).toEqual(['RS256', 'PS256', 'ES256', 'RS256'])
    expect(new Set(headers.flatMap(({ jwk }) => (jwk?.kty === 'RSA' ? [jwk.n] : []))).size).toBe(1)
    expect(created().filter((name) => String(name).startsWith('RSA'))).toHaveLength(1)
    await auth.logout(site.url)
    await failed(auth, site)
    expect(new Set(proofs.map((proof) => decodeProtectedHeader(proof).jwk?.n)).size).toBeGreaterThan(2)
  },
)

test('a server can cause only so many logins of a service within a minute, and the error says how long to wait', async () => {
  const site = await startGreedy()
  const auth = service()
  const error = await exhaust(auth, site)
  expect(error).toMatchObject({ kind: 'login_failed', retryable: true })
  expect(error.message).toContain('the next one may begin in')
  expect(error.retryAfterMs).toBeGreaterThan(0)
  expect(error.retryAfterMs).toBeLessThanOrEqual(60_000)
  expect(site.forms).toHaveLength(30)
  expect((await failed(auth, site)).message).toContain('the next one may begin in')
  expect(site.forms).toHaveLength(30)
  // A server that accepts the token meanwhile is used as ever, and a method of its own begins from zero.
  await auth.logout(site.url)
  expect(await failed(auth, site)).not.toBeInstanceOf(McpError)
})

test('logins of a service that give no token do not count', async () => {
  let isUp = false
  const site = await startHostile({
    issuer: () => ({ token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
    token: () => (isUp ? { json: { access_token: 'token', token_type: 'Bearer' } } : { status: 503 }),
  })
  const auth = service()
  for (let call = 0; call < 40; call++) expect((await failed(auth, site)).message).toContain('status 503')
  isUp = true
  expect(await callTool(openAuth(auth, site.url), site.url, 'who')).toBe('Bearer token')
})
