import { expect, test } from 'vitest'
import { LoginRate, TooManyLogins } from '../../src/auth/client/login-rate.ts'
import { logIn } from './engine-issuer.ts'
import { startWorld } from './engine-world.ts'

const MINUTE = 60_000
const SERVER = 'browser https://mcp.example/mcp'

interface Clock {
  readonly rate: LoginRate
  now: number
}

/** A rate whose clock a test sets. */
function rateAt(): Clock {
  const clock: Clock = { now: 5_000_000, rate: new LoginRate(() => clock.now) }
  return clock
}

/** How long the next login has to wait; undefined if it may begin. */
function waitOf(rate: LoginRate, server: string = SERVER): number | undefined {
  try {
    rate.begin(server)
    return undefined
  } catch (error) {
    if (!(error instanceof TooManyLogins)) throw error
    return error.waitMs
  }
}

test('three logins may begin within a minute, per server, and the error says how long to wait', () => {
  const clock = rateAt()
  const { rate } = clock
  for (let times = 0; times < 3; times++) {
    expect(waitOf(rate)).toBe(undefined)
    clock.now += 1_000
  }
  expect(waitOf(rate)).toBe(MINUTE - 3_000)
  expect(() => rate.begin(SERVER)).toThrow(
    '3 logins to this server began within a minute; the next one may begin in 57 s',
  )
  expect(waitOf(rate, 'browser https://other.example/mcp')).toBe(undefined)
  clock.now += MINUTE - 3_000
  expect(waitOf(rate)).toBe(undefined)
  expect(waitOf(rate)).toBe(1_000)
})

test('ten logins may begin within an hour', () => {
  const clock = rateAt()
  for (let times = 0; times < 10; times++) {
    expect(waitOf(clock.rate)).toBe(undefined)
    clock.now += MINUTE
  }
  expect(waitOf(clock.rate)).toBe(50 * MINUTE)
  clock.now += 50 * MINUTE
  expect(waitOf(clock.rate)).toBe(undefined)
})

test('a login that is taken back does not count, and a reset forgets all', () => {
  const { rate } = rateAt()
  for (let times = 0; times < 9; times++) rate.begin(SERVER)()
  for (let times = 0; times < 3; times++) rate.begin(SERVER)
  expect(waitOf(rate)).toBe(MINUTE)
  rate.reset(SERVER)
  expect(waitOf(rate)).toBe(undefined)
})

test('a login that is taken back after another began does not count either', () => {
  const clock = rateAt()
  const { rate } = clock
  for (let times = 0; times < 5; times++) {
    const first = rate.begin(SERVER)
    clock.now += 1_000
    const second = rate.begin(SERVER)
    first()
    second()
  }
  expect(waitOf(rate)).toBe(undefined)
})

test('the fourth login within a minute is an error that says how long to wait, also for another vault, until the user logs out', async () => {
  const world = await startWorld()
  const broken = async (page: URL): Promise<URL> => {
    world.pages.push(page)
    return new URL('?state=wrong', page.searchParams.get('redirect_uri') as string)
  }
  for (let times = 0; times < 3; times++) await world.fail('who', { open: broken })
  const error = await world.fail('who', { open: broken })
  expect(error).toMatchObject({ kind: 'login_failed', retryable: false })
  expect(error.message).toContain('the next one may begin in')
  expect(error.retryAfterMs).toBeGreaterThan(0)
  expect(error.retryAfterMs).toBeLessThanOrEqual(MINUTE)
  expect(world.pages).toHaveLength(3)
  await world.login().logout(world.server.url)
  expect(await world.call('who')).toBe('ann notes:read')
})

test('logins that the user refuses in the program do not count', async () => {
  const world = await startWorld()
  for (let times = 0; times < 4; times++)
    await world.fail('who', {
      open: () => {
        throw new Error('the user does not want to log in')
      },
    })
  expect(await world.call('who')).toBe('ann notes:read')
})

test('C.oauth-refusals logins that an issuer calls refused count: it may say so without asking anybody', async () => {
  const world = await startWorld()
  for (let times = 0; times < 3; times++)
    expect((await world.fail('who', { open: (page) => logIn(page, false) })).message).toContain(
      'access_denied',
    )
  expect((await world.fail('who')).message).toContain('the next one may begin in')
})

test('the users of one program have limits of their own', async () => {
  const world = await startWorld()
  const broken = async (page: URL): Promise<URL> =>
    new URL('?state=wrong', page.searchParams.get('redirect_uri') as string)
  for (let times = 0; times < 3; times++) await world.fail('who', { open: broken, user: 'mallory' })
  expect((await world.fail('who', { user: 'mallory' })).message).toContain('the next one may begin in')
  expect(await world.call('who', { user: 'ann' })).toBe('ann notes:read')
})
