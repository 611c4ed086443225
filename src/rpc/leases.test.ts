import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Leases, type LeaseTerms } from './leases.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DAY = 86_400_000

test('a lease ends once, at the time that the caller has, even if that is further away than a timer reaches', () => {
  const leases = new Leases()
  const ends: string[] = []
  leases.hold({ sub: 'ann', expiresAt: (Date.now() + 60 * DAY) / 1000 }, (why) => ends.push(why))
  vi.advanceTimersByTime(59 * DAY)
  expect([ends, leases.size]).toEqual([[], 1])
  vi.advanceTimersByTime(2 * DAY)
  void leases.revoke({ sub: 'ann' })
  expect([ends, leases.size]).toEqual([['expired'], 0])
})

test.each([undefined, Number.POSITIVE_INFINITY, Number.NaN, '1'])(
  'a caller with the expiry %j never expires',
  (expiresAt) => {
    const leases = new Leases()
    const end = vi.fn<() => void>()
    leases.hold({ sub: 'ann', expiresAt }, end)
    vi.advanceTimersByTime(400 * DAY)
    expect([end.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
  },
)

test('a lease that is released, or of nobody, leaves nothing behind', () => {
  const leases = new Leases()
  const end = vi.fn<() => void>()
  const release = leases.hold({ sub: 'ann', expiresAt: Date.now() / 1000 + 1 }, end)
  leases.hold(undefined, end)()
  release()
  release()
  void leases.revoke({ sub: 'ann' })
  vi.runAllTimers()
  expect([end.mock.calls, leases.size, vi.getTimerCount()]).toEqual([[], 0, 0])
})

test('credentials are checked again as often as their terms say, but at most once a second', async () => {
  const leases = new Leases()
  const auth = { sub: 'ann' }
  const ends: string[] = []
  let asked = 0
  const terms = (): LeaseTerms => ({
    expiresAt: Number.POSITIVE_INFINITY,
    recheckAt: Date.now(),
    epoch: 0,
    recheck: async () => (++asked < 3 ? terms() : 'revoked'),
  })
  leases.set(auth, terms())
  leases.hold(auth, (why) => ends.push(why))
  await vi.advanceTimersByTimeAsync(2500)
  expect([asked, ends]).toEqual([2, []])
  await vi.advanceTimersByTimeAsync(1000)
  expect([asked, ends]).toEqual([3, ['revoked']])
})

test('a check without a verdict is tried again for five minutes, then it ends the lease', async () => {
  const leases = new Leases()
  const auth = { sub: 'ann' }
  const ends: string[] = []
  let isDown = true
  const expiresAt = Number.POSITIVE_INFINITY
  const terms = (): LeaseTerms => ({ expiresAt, recheckAt: Date.now() + 5000, epoch: 0, recheck })
  const recheck = async (): Promise<LeaseTerms> => {
    if (isDown) throw new Error('the issuer is down')
    return terms()
  }
  leases.set(auth, terms())
  leases.hold(auth, (why) => ends.push(why))
  await vi.advanceTimersByTimeAsync(200_000)
  isDown = false
  await vi.advanceTimersByTimeAsync(200_000)
  isDown = true
  await vi.advanceTimersByTimeAsync(295_000)
  expect(ends).toEqual([])
  await vi.advanceTimersByTimeAsync(20_000)
  expect([ends, leases.size, vi.getTimerCount()]).toEqual([['unavailable'], 0, 0])
})

test('a caller that was revoked before it holds anything is ended after hold() returned', async () => {
  const leases = new Leases()
  const ends: string[] = []
  const end = (why: string): void => void ends.push(why)
  const ann = { sub: 'ann' }
  const [before, after] = [{ sub: 'bob' }, { sub: 'bob' }]
  const terms = (): LeaseTerms => ({
    expiresAt: Number.POSITIVE_INFINITY,
    recheckAt: Number.POSITIVE_INFINITY,
    epoch: leases.epoch,
    recheck: async () => terms(),
  })
  leases.set(before, terms())
  void leases.revoke({ sub: 'bob' })
  leases.set(after, terms())
  void leases.revoke({ sub: 'ann' })
  expect([ann, before, after, undefined].map((auth) => leases.isOver(auth))).toEqual([
    true,
    true,
    false,
    false,
  ])
  leases.hold(ann, end)
  leases.hold(before, end)()
  leases.hold(after, end)
  expect(ends).toEqual([])
  await Promise.resolve()
  expect([ends, leases.size]).toEqual([['revoked'], 1])
})

test('the revocations of 100,000 subjects are remembered, the latest of each', () => {
  const leases = new Leases()
  const isRevoked = (sub: string): boolean =>
    leases.isRevoked({ sub, issuer: 'https://id.example' }, undefined)
  void leases.revoke({ sub: 'ann' })
  void leases.revoke({ sub: 'bob', issuer: 'https://id.example' })
  for (let nth = 2; nth < 100_000; nth++) void leases.revoke({ sub: String(nth) })
  expect([isRevoked('ann'), isRevoked('bob')]).toEqual([true, true])
  void leases.revoke({ sub: 'ann' })
  void leases.revoke({ sub: 'one more' })
  expect([isRevoked('ann'), isRevoked('bob'), isRevoked('2')]).toEqual([true, false, true])
})

test('a revocation ends everything of its caller, even if ending something fails', () => {
  const leases = new Leases()
  const ends: string[] = []
  leases.hold({ sub: 'ann' }, () => {
    throw new Error('the socket is broken')
  })
  leases.hold({ sub: 'ann' }, (why) => ends.push(why))
  expect(() => leases.revoke({ sub: 'ann' })).toThrow('the socket is broken')
  expect([ends, leases.size]).toEqual([['revoked'], 0])
})

test('a revocation concerns a subject, of one issuer or of all, and what was issued until then', () => {
  const leases = new Leases()
  const ann = { sub: 'ann', issuer: 'https://id.example' }
  const other = { sub: 'ann', iss: 'https://other.example' }
  const now = Date.now()
  expect(leases.isRevoked(ann, undefined)).toBe(false)
  void leases.revoke({ sub: 'ann', issuer: 'https://id.example' })
  expect([leases.isRevoked(ann, undefined), leases.isRevoked(other, undefined)]).toEqual([true, false])
  expect([leases.isRevoked(ann, now), leases.isRevoked(ann, now + 1)]).toEqual([true, false])
  void leases.revoke({ sub: 'ann' })
  expect(leases.isRevoked(other, undefined)).toBe(true)
  expect([leases.wasRevokedSince(other, 1), leases.wasRevokedSince(other, 2)]).toEqual([true, false])
  expect([leases.isRevoked({ sub: 'bob' }, undefined), leases.isRevoked({}, undefined)]).toEqual([
    false,
    false,
  ])
})

test('a revocation that arrives after a later one takes nothing back', () => {
  const leases = new Leases()
  const [ann, other] = [
    { sub: 'ann', issuer: 'https://id.example' },
    { sub: 'ann', issuer: 'https://other.example' },
  ]
  const areRevoked = (issuedAt: number): readonly boolean[] =>
    [ann, other].map((auth) => leases.isRevoked(auth, issuedAt))
  leases.apply({ sub: 'ann' }, 2000)
  leases.apply({ sub: 'ann' }, 1000)
  leases.apply(ann, 1500)
  expect([areRevoked(2000), areRevoked(2001)]).toEqual([
    [true, true],
    [false, false],
  ])
  leases.apply(ann, 3000)
  leases.apply(ann, 2500)
  leases.apply({ sub: 'ann' }, 2200)
  expect([areRevoked(2200), areRevoked(3000), areRevoked(3001)]).toEqual([
    [true, true],
    [true, false],
    [false, false],
  ])
  // Whatever its time is, it ends what is open.
  expect([leases.wasRevokedSince(ann, 5), leases.wasRevokedSince(other, 5)]).toEqual([true, true])
})

test('a watcher learns when and where a caller was revoked', () => {
  vi.setSystemTime(5000)
  const leases = new Leases()
  const seen: unknown[] = []
  leases.watch((concerns, { at, where }) => seen.push([concerns({ sub: 'ann' }), at, where]))
  void leases.revoke({ sub: 'ann' })
  leases.apply({ sub: 'ann' }, 1000)
  leases.apply({ sub: 'bob' }, 2000, 'past')
  expect(seen).toEqual([
    [true, 5000, 'here'],
    [true, 1000, 'elsewhere'],
    [false, 2000, 'past'],
  ])
})

test('a caller with a token and a certificate loses what it holds once, when the first of them is over', () => {
  const leases = new Leases()
  const ends: string[] = []
  const [auth, certified] = [{ sub: 'ann' }, { sub: 'CN=ann', expiresAt: Date.now() / 1000 + 5 }]
  leases.holdFor({ auth, certified }, (why) => ends.push(`first ${why}`))
  leases.holdFor({ auth: certified, certified }, (why) => ends.push(`second ${why}`))
  expect(leases.size).toBe(3)
  void leases.revoke({ sub: 'ann' })
  expect([ends, leases.size]).toEqual([['first revoked'], 1])
  vi.advanceTimersByTime(5000)
  expect([ends, leases.size]).toEqual([['first revoked', 'second expired'], 0])
})
