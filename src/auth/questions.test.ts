import { expect, test } from 'vitest'
import type { Asker } from '../transport/http/server/auth-method.ts'
import { bearer } from './bearer.ts'
import { Leases } from '../rpc/leases.ts'
import { Questions } from './questions.ts'
import { TokenVerifier } from './verifier.ts'

const never = (): Promise<never> => new Promise(() => undefined)

test.each([true, false])(
  'one sender takes a share of the room, also with many tokens (known: %s)',
  (isKnown) => {
    const questions = new Questions({ known: 100, unknown: 100, perToken: 10, lostMs: 60_000 })
    const ask = (sender: string, nth: number): unknown => {
      const asker: Asker = { isKnown, sender }
      return questions.ask(`${sender}-${nth}`, asker, never)
    }
    const all = Array.from({ length: 100 }, (_, nth) => ask('greedy', nth))
    expect(all.filter((one) => one !== undefined)).toHaveLength(25)
    for (let nth = 0; nth < 20; nth++) expect(ask(`user-${nth}`, 1)).toBeInstanceOf(Promise)
  },
)

test('tokens of one account that are checked again share its room, whatever their addresses and client ids', async () => {
  const askers: Asker[] = []
  const verified = bearer((token) => ({ sub: token.slice(0, 3), client_id: token }))
  const method = {
    ...verified,
    verify: (token: string, asker: Asker) => (askers.push(asker), verified.verify(token, asker)),
  }
  const leases = new Leases()
  const verifier = new TokenVerifier([method as typeof verified], {
    path: '/mcp',
    verifyMs: 1000,
    leases,
    report: () => undefined,
  })
  const tokens = ['ann-1', 'ann-2', 'bob-1']
  for (const token of tokens) await verifier.find(token, 'address')
  for (const sub of ['ann', 'bob']) void leases.revoke({ sub })
  for (const token of tokens) await verifier.find(token, `address of ${token}`)
  expect(askers.slice(0, 3)).toEqual(tokens.map(() => ({ isKnown: false, sender: 'address' })))
  const [ann, again, bob] = askers.slice(3)
  expect(ann?.isKnown).toBe(true)
  expect(again).toEqual(ann)
  expect(bob?.sender).not.toEqual(ann?.sender)
})
