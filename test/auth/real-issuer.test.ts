import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { introspection, oauth } from '../../src/auth.ts'
import { callerOf, expectRejected, guard } from './guarded.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { createProver } from './proofs.ts'
import { as } from './server.ts'

const resource = 'https://mcp.example/mcp'
let issuer: Issuer
let other: Issuer

beforeAll(async () => {
  issuer = await startIssuer()
  other = await startIssuer()
})
afterAll(() => Promise.all([issuer.close(), other.close()]))
afterEach(() => vi.restoreAllMocks())

function method(): ReturnType<typeof oauth> {
  return oauth({ issuer: issuer.url, resource, scopes: ['notes:read'] })
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The clocks of this process from now on. */
function setClocks(aheadMs: number): void {
  for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock)
    vi.spyOn(clock, 'now').mockImplementation(() => now() + aheadMs)
  }
}

test('a token of the issuer is accepted', async () => {
  const server = await guard(method())
  const reply = await server.call(as(await issuer.token({ resource, client: 'ann' })))
  expect(callerOf(reply)).toMatchObject({ sub: 'ann', clientId: 'ann', issuer: issuer.url })
})

test('wrong audience: a token for another server gets 401', async () => {
  const token = await issuer.token({ resource: 'https://other.example/mcp' })
  await expectRejected(await guard(method()), token, 401, 'invalid_token')
})

test('wrong issuer: a token of another issuer gets 401, also in the name of this one', async () => {
  const server = await guard(method())
  const token = await other.token({ resource })
  await expectRejected(server, token, 401, 'invalid_token')
  const [, , signature] = token.split('.')
  const claims = encode({ ...decodeJwt(token), iss: issuer.url })
  const named = { ...decodeProtectedHeader(token), ...(await keyNameOf(issuer)) }
  await expectRejected(server, `${encode(named)}.${claims}.${signature}`, 401, 'invalid_token')
})

test('expired: a token that was accepted gets 401 after its time', async () => {
  const server = await guard(method())
  const token = await issuer.token({ resource })
  expect((await server.call(as(token))).status).toBe(200)
  setClocks(11 * 60_000 + 1)
  const reply = await expectRejected(server, token, 401, 'invalid_token')
  expect(reply.headers['www-authenticate']).toContain('expired')
})

test('not yet valid: a token from the future gets 401', async () => {
  const token = await issuer.token({ resource })
  setClocks(-5 * 60_000)
  const reply = await expectRejected(await guard(method()), token, 401, 'invalid_token')
  expect(reply.headers['www-authenticate']).toContain('not valid yet')
})

test.each(['none', 'None', 'NONE'])('alg %s: a token without a signature gets 401', async (alg) => {
  const server = await guard(method())
  const token = await issuer.token({ resource })
  const [header, claims, signature] = token.split('.') as [string, string, string]
  const unsigned = encode({ ...decodeProtectedHeader(token), alg })
  for (const forged of [
    `${unsigned}.${claims}.`,
    `${unsigned}.${claims}.${signature}`,
    `${header}.${claims}.`,
  ])
    await expectRejected(server, forged, 401, 'invalid_token')
})

test('key confusion: a token with the published key as its secret gets 401', async () => {
  const server = await guard(method())
  const token = await issuer.token({ resource })
  const key = await publishedKey(issuer)
  const input = `${encode({ ...decodeProtectedHeader(token), alg: 'HS256' })}.${token.split('.')[1]}`
  for (const secret of [
    JSON.stringify(key),
    key['x'] as string,
    Buffer.from(key['x'] as string, 'base64url'),
    '',
  ]) {
    const signature = createHmac('sha256', secret).update(input).digest('base64url')
    await expectRejected(server, `${input}.${signature}`, 401, 'invalid_token')
  }
})

test('key rotation: tokens with the new key are accepted, and those with the withdrawn key get 401', async () => {
  const server = await guard(method())
  const before = await issuer.token({ resource })
  expect((await server.call(as(before))).status).toBe(200)
  await issuer.rotate()
  // Keys are fetched once a minute at most.
  setClocks(61_000)
  expect((await server.call(as(await issuer.token({ resource })))).status).toBe(200)
  await expectRejected(await guard(method()), before, 401, 'invalid_token')
})

test('revocation: a token that the issuer revoked gets 401 once it is checked again', async () => {
  const { url, clientId, clientSecret } = issuer
  const server = await guard(introspection({ issuer: url, clientId, clientSecret, resource }))
  const token = await issuer.token({ resource, opaque: true })
  expect((await server.call(as(token))).status).toBe(200)
  await issuer.revoke(token)
  setClocks(60_001)
  await expectRejected(server, token, 401, 'invalid_token')
})

test('missing scope and step-up: a token with the scopes that a 403 asks for is accepted', async () => {
  const server = await guard(method())
  const few = await issuer.token({ resource, scope: 'notes:read' })
  const rejected = await server.call(as(few), { tool: 'write' })
  expect([rejected.status, server.calls()]).toEqual([403, 0])
  const [, scope] = /scope="([^"]*)"/.exec(String(rejected.headers['www-authenticate'])) ?? []
  expect(scope).toBe('notes:read notes:write')
  const more = await issuer.token({ resource, scope: scope as string })
  expect((await server.call(as(more), { tool: 'write' })).status).toBe(200)
})

test('replayed DPoP proofs: each proof for a token of the issuer is accepted once', async () => {
  const server = await guard(method())
  const prover = await createProver()
  const token = await issuer.token({ resource, keys: prover.keys })
  const dpop = await prover.prove({ method: 'POST', url: resource, token })
  const headers = { authorization: `DPoP ${token}`, dpop }
  expect((await server.call(headers)).status).toBe(200)
  await expectRejected(server, token, 401, 'invalid_dpop_proof', headers)
})

async function publishedKey({ url }: Issuer): Promise<Readonly<Record<string, unknown>>> {
  const { keys } = (await (await fetch(`${url}/jwks`)).json()) as { keys: Record<string, unknown>[] }
  return keys[0] as Record<string, unknown>
}

async function keyNameOf(one: Issuer): Promise<{ readonly kid: string }> {
  return { kid: (await publishedKey(one))['kid'] as string }
}
