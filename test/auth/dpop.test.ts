import { exportJWK } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { oauth, type OAuthOptions } from '../../src/auth/oauth.ts'
import { createReplays, type UsedProof } from '../../src/auth/replays.ts'
import type { Accepted, Presented, Rejected } from '../../src/transport/http/server/auth-method.ts'
import { startIssuer } from './issuer.ts'
import { createProver, HOSTILE_PROOFS, type Prover } from './proofs.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const secret = 'a secret of more than 32 characters'
let issuer: SmallIssuer
let prover: Prover
let token: string

beforeAll(async () => {
  issuer = await startSmallIssuer(resource)
  prover = await createProver()
  token = await issuer.sign({ cnf: { jkt: prover.jkt } })
})
afterAll(() => issuer.close())
afterEach(() => {
  vi.restoreAllMocks()
})

async function accept(options: Partial<OAuthOptions> = {}, bound: string = token): Promise<Accepted> {
  return (await oauth({ issuer: issuer.url, resource, ...options }).verify(bound)) as Accepted
}

function proofOf(account: string, id: string): UsedProof {
  return { account, key: account, id }
}

function present(change: Partial<Presented> = {}): Presented {
  return {
    scheme: 'dpop',
    token,
    method: 'POST',
    url: resource,
    proof: undefined,
    certificate: undefined,
    ...change,
  }
}

test('a token of a real issuer that is bound to a key is accepted with a proof', async () => {
  const real = await startIssuer()
  try {
    const bound = await real.token({ resource, keys: prover.keys })
    const { confirm } = await accept({ issuer: real.url }, bound)
    const request = present({ token: bound })
    expect(await confirm?.({ ...request, proof: await prover.prove(request) })).toBeUndefined()
  } finally {
    await real.close()
  }
})

test('good proofs are accepted, each once', async () => {
  const { confirm } = await accept()
  const proofs = [
    await prover.prove(present()),
    await prover.prove(present(), { htu: 'HTTPS://MCP.example:443/mcp?a=1#b' }),
    await prover.prove(present(), { nonce: 'of another server' }),
  ]
  for (const proof of proofs) expect(await confirm?.(present({ proof }))).toBeUndefined()
  for (const proof of proofs)
    expect(await confirm?.(present({ proof }))).toMatchObject({
      rejected: 'proof',
      why: 'it was used before; create one for each request',
    })
})

test.each(HOSTILE_PROOFS)(
  '$what is rejected',
  async ({ claims, header, change = (proof: string) => proof }) => {
    const { confirm } = await accept()
    const proof = change(await prover.prove(present(), claims, header))
    expect(await confirm?.(present({ proof }))).toHaveProperty('rejected', 'proof')
  },
)

test('a proof with the key of another client is rejected', async () => {
  const { confirm } = await accept()
  const thief = await createProver()
  expect(await confirm?.(present({ proof: await thief.prove(present()) }))).toMatchObject({
    rejected: 'proof',
    why: 'its key is not the key of the token',
  })
})

test('a proof with a private key in its header is rejected', async () => {
  const { confirm } = await accept()
  const proof = await prover.prove(present(), {}, { jwk: await exportJWK(prover.keys.privateKey) })
  expect(await confirm?.(present({ proof }))).toHaveProperty('rejected', 'proof')
})

test('a bound token without its scheme is rejected, and an unbound token needs no check of its requests', async () => {
  const { confirm } = await accept()
  const proof = await prover.prove(present())
  expect(await confirm?.(present({ scheme: 'bearer', proof }))).toHaveProperty('rejected', 'invalid')
  expect((await accept({}, await issuer.sign())).confirm).toBeUndefined()
})

test('bound tokens can be required, and rejected', async () => {
  const required = oauth({ issuer: issuer.url, resource, dpop: { required: true } })
  expect(await required.verify(await issuer.sign())).toHaveProperty('rejected', 'invalid')
  expect(await required.verify(token)).toHaveProperty('auth')
  expect(required.metadata).toHaveProperty('dpop_bound_access_tokens_required', true)
  const off = oauth({ issuer: issuer.url, resource, dpop: false })
  expect(await off.verify(token)).toHaveProperty('rejected', 'invalid')
  expect(off.metadata).toEqual({})
})

test('nonces are required, accepted for a while, and work on every server with the same secret', async () => {
  const open = (shared?: string): ReturnType<typeof oauth> =>
    oauth({ issuer: issuer.url, resource, dpop: { nonces: true, secret: shared } })
  const [one, other, third] = [open(secret), open(secret), open()]
  const { confirm } = (await one.verify(token)) as Accepted
  const use = async (nonce: unknown): Promise<Rejected | undefined> =>
    confirm?.(present({ proof: await prover.prove(present(), { nonce }) }))
  const nonce = await one.nonce?.()
  expect(one.nonce?.()).toBe(nonce)
  expect(await use(nonce)).toBeUndefined()
  expect(await use(await other.nonce?.())).toBeUndefined()
  expect(await use(await third.nonce?.())).toHaveProperty('rejected', 'nonce')
  for (const wrong of [undefined, '', 'AAAA', 7, `${nonce}A`, 'A'.repeat(54), '!'])
    expect(await use(wrong)).toHaveProperty('rejected', 'nonce')
  const now = Date.now.bind(Date)
  const shift = vi.spyOn(Date, 'now')
  const proofAt = async (laterMs: number): Promise<Rejected | undefined> => {
    shift.mockImplementation(() => now() + laterMs)
    return use(nonce)
  }
  expect(await proofAt(60_000)).toBeUndefined()
  expect(await proofAt(180_000)).toHaveProperty('rejected', 'nonce')
})

test('an account that sends very many proofs cannot lock out others', () => {
  const replays = createReplays(60_000, 100)
  let at = 0
  while (replays.add(proofOf('greedy', String(at))) === undefined) at++
  expect(at).toBe(25)
  expect(replays.add(proofOf('greedy', 'more'))).toHaveProperty('rejected', 'unavailable')
  expect(replays.add(proofOf('greedy', '0'))).toHaveProperty('rejected', 'proof')
  expect(replays.add(proofOf('modest', '0'))).toBeUndefined()
})

test('used proofs are forgotten when they are too old to be accepted, and leave room for others', () => {
  const replays = createReplays(60_000, 4)
  expect(replays.add(proofOf('key', 'a'))).toBeUndefined()
  expect(replays.add(proofOf('key', 'b'))).toHaveProperty('rejected', 'unavailable')
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
  expect(replays.add(proofOf('key', 'a'))).toBeUndefined()
})

test('a token that is bound to a certificate is accepted on connections with that certificate', async () => {
  const bound = await issuer.sign({ cnf: { 'x5t#S256': 'thumbprint' } })
  const { confirm } = await accept({}, bound)
  const request = present({ scheme: 'bearer', token: bound })
  expect(confirm?.({ ...request, certificate: 'thumbprint' })).toBeUndefined()
  for (const certificate of [undefined, 'other', ''])
    expect(confirm?.({ ...request, certificate })).toHaveProperty('rejected', 'invalid')
  const other = { ...request, certificate: 'thumbprint', scheme: 'dpop' as const }
  expect(confirm?.(other)).toHaveProperty('rejected', 'invalid')
})
