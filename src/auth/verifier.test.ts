import { expect, test } from 'vitest'
import { Leases } from '../rpc/leases.ts'
import { bearer } from './bearer.ts'
import { TokenVerifier, type Known } from './verifier.ts'

const host = { path: '/mcp', verifyMs: 1000, leases: new Leases(), report: () => undefined }

function openVerifier(): TokenVerifier {
  return new TokenVerifier([bearer((token) => ({ sub: token.slice(0, 8) }))], host)
}

/** Verifies a token, and finds it on a connection. */
async function use(verifier: TokenVerifier, token: string, connection: object): Promise<Known> {
  await verifier.find(token, undefined)
  return verifier.findHeader(`Bearer ${token}`, connection) as Known
}

test('a connection may change its token, and each request has the caller of its own', async () => {
  const verifier = openVerifier()
  const connection = {}
  const subs: unknown[] = []
  for (const token of ['ann', 'bob', 'bob', 'ann'])
    subs.push((await use(verifier, token, connection)).caller.auth.sub)
  expect(subs).toEqual(['ann', 'bob', 'bob', 'ann'])
  expect(verifier.findHeader('Bearer eve', connection)).toBeUndefined()
})

test('a token that is forgotten is verified again, even on a connection that was last used with it', async () => {
  const verifier = openVerifier()
  const connection = {}
  const before = await use(verifier, 'ann', connection)
  expect(verifier.findHeader('Bearer ann', connection)).toBe(before)
  for (let nth = 0; nth < 256; nth++) await verifier.find(String(nth).padEnd(65_536, 'x'), undefined)
  expect(verifier.findHeader('Bearer ann', connection)).toBeUndefined()
  expect(await use(verifier, 'ann', connection)).not.toBe(before)
})

test('what is newly known of a token replaces what a connection remembers of it', async () => {
  const verifier = openVerifier()
  const connection = {}
  const before = await use(verifier, 'ann', connection)
  void host.leases.revoke({ sub: 'ann' })
  expect(verifier.findHeader('Bearer ann', connection)).toBeUndefined()
  const after = await use(verifier, 'ann', connection)
  expect(after).not.toBe(before)
  expect(verifier.findHeader('Bearer ann', connection)).toBe(after)
})
