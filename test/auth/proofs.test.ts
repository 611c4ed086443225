import { randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { oauth } from '../../src/auth.ts'
import { bind, type Confirm } from '../../src/auth/binding.ts'
import { createProofs } from '../../src/auth/dpop.ts'
import type { Presented, Rejected } from '../../src/transport/http/server/auth-method.ts'
import { callerOf, expectRejected, guard, type Guarded } from './guarded.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { createProver, HOSTILE_PROOFS, type Prover } from './proofs.ts'

const resource = 'https://mcp.example/mcp'
let issuer: Issuer
let prover: Prover
let token: string
let server: Guarded

beforeAll(async () => {
  issuer = await startIssuer()
  prover = await createProver()
  token = await issuer.token({ resource, keys: prover.keys })
})
afterAll(() => issuer.close())
beforeEach(async () => {
  server = await guard(oauth({ issuer: issuer.url, resource }))
})

const request = (): { token: string; method: string; url: string } => ({
  token,
  method: 'POST',
  url: resource,
})

function withProof(dpop: string | undefined): Readonly<Record<string, string>> {
  return { authorization: `DPoP ${token}`, ...(dpop !== undefined && { dpop }) }
}

test('a token that is bound to a key is accepted with a proof for each request', async () => {
  for (let times = 0; times < 3; times++) {
    const reply = await server.call(withProof(await prover.prove(request())))
    expect(callerOf(reply)).toMatchObject({ sub: 'robot', issuer: issuer.url })
  }
})

test.each(HOSTILE_PROOFS.map((one) => [one.id, one.what, one] as const))(
  '%s %s: 401, and no handler runs',
  async (_, __, { claims, header, change = (proof: string) => proof }) => {
    const proof = change(await prover.prove(request(), claims, header))
    const reply = await expectRejected(server, token, 401, 'invalid_dpop_proof', withProof(proof))
    expect(reply.headers['www-authenticate']).toContain('DPoP error=')
    expect(reply.headers['www-authenticate']).toContain('algs="ES256 ')
  },
)

test('A.dpop-replay a proof that was used gets 401, also when it is sent many times at once', async () => {
  const proof = await prover.prove(request())
  const replies = await Promise.all(Array.from({ length: 20 }, () => server.call(withProof(proof))))
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(19)
  expect(server.calls()).toBe(1)
  await expectRejected(server, token, 401, 'invalid_dpop_proof', withProof(proof))
})

test('A.dpop-stolen a token with the proof of another key gets 401', async () => {
  const thief = await createProver()
  await expectRejected(server, token, 401, 'invalid_dpop_proof', withProof(await thief.prove(request())))
})

test('A.dpop-as-bearer a bound token as a bearer token gets 401, with and without a proof', async () => {
  const authorization = `Bearer ${token}`
  await expectRejected(server, token, 401, 'invalid_token', { authorization })
  const dpop = await prover.prove(request())
  await expectRejected(server, token, 401, 'invalid_token', { authorization, dpop })
})

test('A.dpop-unbound a token that is not bound gets 401 under the scheme DPoP', async () => {
  const plain = await issuer.token({ resource })
  const dpop = await prover.prove({ ...request(), token: plain })
  await expectRejected(server, plain, 401, 'invalid_token', { authorization: `DPoP ${plain}`, dpop })
})

test('A.dpop-other-token a proof for one token is no proof for another of the same key', async () => {
  const other = await issuer.token({ resource, keys: prover.keys })
  const dpop = await prover.prove({ ...request(), token: other })
  await expectRejected(server, token, 401, 'invalid_dpop_proof', withProof(dpop))
})

test('A.dpop-required a token that is not bound gets 401 where bound ones are required', async () => {
  const strict = await guard(oauth({ issuer: issuer.url, resource, dpop: { required: true } }))
  await expectRejected(strict, await issuer.token({ resource }), 401, 'invalid_token')
  expect((await strict.call(withProof(await prover.prove(request())))).status).toBe(200)
})

test('A.dpop-nonce a proof without the nonce of the server gets 401 with a nonce, which then works', async () => {
  const strict = await guard(oauth({ issuer: issuer.url, resource, dpop: { nonces: true } }))
  let nonce: string | undefined
  for (const wrong of [undefined, 'of another server', randomUUID()]) {
    const dpop = await prover.prove(request(), { nonce: wrong })
    const reply = await expectRejected(strict, token, 401, 'use_dpop_nonce', withProof(dpop))
    nonce = String(reply.headers['dpop-nonce'])
  }
  const reply = await strict.call(withProof(await prover.prove(request(), { nonce })))
  expect(reply.status).toBe(200)
  expect(reply.headers['dpop-nonce']).toBeTypeOf('string')
  const other = await guard(oauth({ issuer: issuer.url, resource, dpop: { nonces: true } }))
  const dpop = await prover.prove(request(), { nonce })
  await expectRejected(other, token, 401, 'use_dpop_nonce', withProof(dpop))
})

test('the proofs of a user count together, whatever the keys and the client ids of its tokens', async () => {
  const accounts: string[] = []
  const proofs = {
    confirm: async (_: Presented, __: unknown, account: string) => void accounts.push(account),
  }
  const auth = { sub: 'ann', issuer: 'https://id.example' }
  const own = { clientId: 'ann', sub: 'client:ann', issuer: auth.issuer }
  for (const [jkt, caller, claims] of [
    ['one', { ...auth, clientId: 'a' }, { sub: 'ann' }],
    ['two', { ...auth, clientId: 'b' }, { sub: 'ann' }],
    ['three', own, {}],
    ['four', own, { sub: 'client:ann' }],
  ] as const) {
    const confirm = bind({ cnf: { jkt } }, { ...caller, claims }, { proofs, required: false })
    await (confirm as Confirm)({ ...request(), scheme: 'dpop', proof: '', certificate: undefined })
  }
  expect(accounts[1]).toBe(accounts[0])
  expect(new Set(accounts).size).toBe(3)
})

describe('a key that is not worth the work', () => {
  const bytes = (length: number, first = 0xff): string =>
    Buffer.alloc(length, 0xff).fill(first, 0, 1).toString('base64url')
  const presented = (proof: string): Presented => ({ ...request(), proof, resource: undefined }) as Presented
  /** Checks a proof with this key, signed with another, and counts the signatures that are verified. */
  async function confirm(jwk: JWK, jkt?: string): Promise<readonly [Rejected | undefined, number]> {
    const verify = vi.spyOn(crypto.subtle, 'verify')
    onTestFinished(() => verify.mockRestore())
    const signer = await createProver('RS256')
    const proof = await signer.prove(request(), {}, { jwk })
    const proofs = createProofs({ skewMs: 0, nonces: undefined })
    const rejected = await proofs.confirm(presented(proof), jkt ?? (await calculateJwkThumbprint(jwk)), 'ann')
    return [rejected, verify.mock.calls.length]
  }

  test('A.dpop-order the signature is verified only if the key is that of the token', async () => {
    const jwk = { kty: 'RSA', n: bytes(256), e: 'AQAB' }
    expect(await confirm(jwk, prover.jkt)).toEqual([expect.objectContaining({ rejected: 'proof' }), 0])
    expect(await confirm(jwk)).toEqual([expect.objectContaining({ rejected: 'proof' }), 1])
  })

  test.each([
    ['a modulus of 1024 bits', { n: bytes(128), e: 'AQAB' }],
    ['a modulus of 8192 bits', { n: bytes(1024), e: 'AQAB' }],
    ['an exponent of 40 bits', { n: bytes(256), e: bytes(5, 0x7f) }],
    ['an exponent as long as the modulus', { n: bytes(256), e: bytes(256, 0x7f) }],
  ])('A.dpop-rsa %s is rejected before the signature is verified', async (_, key) => {
    expect(await confirm({ kty: 'RSA', ...key })).toEqual([expect.objectContaining({ rejected: 'proof' }), 0])
  })

  test('an ordinary RSA key is accepted', async () => {
    const rsa = await createProver('RS256')
    const proofs = createProofs({ skewMs: 0, nonces: undefined })
    expect(await proofs.confirm(presented(await rsa.prove(request())), rsa.jkt, 'ann')).toBeUndefined()
  })
})
