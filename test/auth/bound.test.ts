import { createHash } from 'node:crypto'
import { request as askHttps } from 'node:https'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMethod } from '../../src/auth/method.ts'
import type { AuthMethod, Presented, Rejected } from '../../src/transport/http/server/auth-method.ts'
import { createAuthority } from '../harness/certificates.ts'
import { headed } from '../http/messages.ts'
import { as, callTool, listen, reports, RESOURCE, server, textOf } from './server.ts'

interface Bound {
  readonly auth: AuthMethod
  readonly presented: Presented[]
}

/** A method whose tokens are bound to something that `confirm` checks. */
function bound(confirm: (request: Presented) => Rejected | undefined, more: Partial<AuthMethod> = {}): Bound {
  const presented: Presented[] = []
  const auth = createMethod({
    name: 'bound',
    resource: RESOURCE,
    issuers: [],
    scopes: [],
    includes: {},
    metadata: {},
    verify: (token) => ({
      auth: { sub: 'ann' },
      ...(token === 'bound' && {
        confirm(request: Presented) {
          presented.push(request)
          return confirm(request)
        },
      }),
    }),
    ...more,
  })
  return { auth, presented }
}

const ALGORITHMS = { metadata: { dpop_signing_alg_values_supported: ['ES256', 'EdDSA'] } }

describe('a bound token', () => {
  test('is confirmed with every request, with what the client presented', async () => {
    const { auth, presented } = bound(() => undefined)
    const { url } = await listen(auth)
    for (const proof of ['first', 'second'])
      expect((await callTool(`${url}?a=b`, 'who', { authorization: 'DPoP bound', dpop: proof })).status).toBe(
        200,
      )
    expect((await callTool(url, 'who', as('bound'))).status).toBe(200)
    const common = { token: 'bound', method: 'POST', url: RESOURCE, certificate: undefined }
    expect(presented).toEqual([
      { ...common, scheme: 'dpop', proof: 'first' },
      { ...common, scheme: 'dpop', proof: 'second' },
      { ...common, scheme: 'bearer', proof: undefined },
    ])
  })

  test.each([
    ['proof', 'invalid_dpop_proof'],
    ['nonce', 'use_dpop_nonce'],
    ['invalid', 'invalid_token'],
  ] as const)('that is rejected because of %j gets a challenge for DPoP', async (rejected, code) => {
    const { auth } = bound(() => ({ rejected, why: 'because' }), ALGORITHMS)
    const { url } = await listen(auth)
    const reply = await callTool(url, 'who', { authorization: 'DPoP bound' })
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      401,
      `DPoP error="${code}", error_description="because", ` +
        'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp", algs="ES256 EdDSA"',
    ])
  })

  test('whose proof cannot be checked gets 503, and the log says why', async () => {
    const { auth } = bound(() => {
      throw new Error('the store is down')
    })
    const { url } = await listen(auth)
    reports.length = 0
    expect((await callTool(url, 'who', as('bound'))).status).toBe(503)
    expect(reports.join()).toContain('the store is down')
  })
})

test('a token that is not bound is not accepted with the scheme DPoP', async () => {
  const { auth } = bound(() => undefined)
  const { url } = await listen(auth)
  expect((await callTool(url, 'who', { authorization: 'DPoP free' })).status).toBe(401)
  expect((await callTool(url, 'who', { authorization: 'Bearer free' })).status).toBe(200)
  expect((await callTool(url, 'who', { authorization: 'bearer  free' })).status).toBe(200)
})

test('a server that accepts DPoP says so next to the challenge for bearer tokens', async () => {
  const { auth } = bound(() => undefined, { ...ALGORITHMS, resource: undefined, scopes: ['a'] })
  const { url } = await listen(auth)
  expect((await callTool(url, 'who')).headers.get('www-authenticate')).toBe(
    'Bearer scope="a", DPoP algs="ES256 EdDSA"',
  )
})

test.each<readonly [string, AuthMethod['nonce']]>([
  ['at once', () => 'n-1'],
  ['later', async () => 'n-1'],
])('a nonce that is known %s is part of every reply', async (_, nonce) => {
  const { auth } = bound(() => undefined, { nonce: nonce as () => string })
  const { url } = await listen(auth)
  const nonceOf = ({ headers }: Response): string | null => headers.get('dpop-nonce')
  const replies = [
    await callTool(url, 'who'),
    await callTool(url, 'who', as('free')),
    await callTool(url, 'who', { authorization: 'DPoP free' }),
    await callTool(url, 'read', as('free')),
  ]
  expect(replies.map(({ status }) => status)).toEqual([401, 200, 401, 403])
  expect(replies.map(nonceOf)).toEqual(['n-1', 'n-1', 'n-1', 'n-1'])
})

test('the certificate of the connection is presented by its thumbprint', async () => {
  const authority = createAuthority('Harbour CA')
  const own = authority.issue('server', ['127.0.0.1'])
  const client = authority.issue('ann')
  const { auth, presented } = bound(() => undefined)
  const app = server(auth)
  const tls = { key: own.key, cert: own.cert, ca: authority.cert }
  const { url } = await app.listen({ http: { port: 0, tls }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  const { body, headers } = headed('tools/call', { name: 'who' })
  const status = await new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { ...headers, ...as('bound') }, ca: authority.cert, ...client }
    askHttps(url as string, { ...options, agent: false }, (reply) => resolve(reply.resume().statusCode))
      .once('error', reject)
      .end(body)
  })
  const der = Buffer.from(client.cert.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  expect([status, presented[0]?.certificate]).toEqual([
    200,
    createHash('sha256').update(der).digest('base64url'),
  ])
})

describe('a web page', () => {
  const origin = 'https://page.example'

  test('can read challenges and nonces, and may send proofs', async () => {
    const { auth } = bound(() => undefined, { nonce: () => 'n-1' })
    const { url } = await listen(auth, { cors: [origin] })
    const reply = await callTool(url, 'who', { origin })
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([401, origin])
    expect(reply.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate, DPoP-Nonce/)
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,dpop',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/Authorization,.*DPoP/)
    const accepted = await callTool(url, 'who', { origin, ...as('free') })
    expect([await textOf(accepted), accepted.headers.get('dpop-nonce')]).toEqual(['ann', 'n-1'])
    expect(accepted.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test('that is not allowed learns nothing, whether its token is good or not', async () => {
    const { auth } = bound(() => undefined)
    const { url } = await listen(auth)
    for (const headers of [{}, as('free')]) {
      const reply = await callTool(url, 'who', { origin, ...headers })
      expect([reply.status, reply.headers.has('www-authenticate')]).toEqual([403, false])
    }
  })
})
