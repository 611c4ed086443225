import { expect, test } from 'vitest'
import { record } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, expire, startWorld } from './engine-world.ts'

const MORE = { scopes: ['notes:write'] }

test('scopes of the options that a stored login lacks extend it by one login, which names them', async () => {
  const world = await startWorld()
  await world.call('who')
  const stepUps: unknown[] = []
  const auth = world.login({
    ...MORE,
    open: (page, { stepUp }) => {
      stepUps.push(stepUp)
      return world.open(page)
    },
  })
  const client = openAuth(auth, world.server.url)
  const calls = Array.from({ length: 20 }, () => callTool(client, world.server.url, 'who'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann notes:read notes:write']))
  expect(stepUps).toEqual([{ scopes: ['notes:write'], wasRequested: false }])
  expect(await world.call('who', MORE)).toBe('ann notes:read notes:write')
  expect(await world.call('who')).toBe('ann notes:read notes:write')
  expect(world.pages).toHaveLength(2)
})

test('a login that expired is refreshed before it is extended', async () => {
  const world = await startWorld()
  await world.call('who')
  await expire(world.vault)
  expect(await world.call('who', MORE)).toBe('ann notes:read notes:write')
  expect(world.issuer.log).toEqual([
    'registered',
    'grant authorization_code',
    'grant refresh_token',
    'grant authorization_code',
  ])
})

test('a scope that the issuer never grants is asked for once, also by later starts and after a refresh', async () => {
  const world = await startWorld()
  record(world.issuer, '/token', async (reply) =>
    Response.json({ ...((await reply.json()) as object), scope: 'notes:read' }),
  )
  await world.call('who')
  for (let starts = 0; starts < 3; starts++) await world.call('who', MORE)
  expect(world.pages).toHaveLength(2)
  expect((await entryOf(world.vault)).tokens?.denied).toContain('notes:write')
  await expire(world.vault)
  await world.call('who', MORE)
  expect(world.pages).toHaveLength(2)
})

test('with storedOnly, the error names the missing scopes', async () => {
  const world = await startWorld()
  await world.call('who')
  const error = await world.fail('who', { ...MORE, storedOnly: true })
  expect(error).toMatchObject({
    kind: 'login_needed',
    data: { reason: 'missing_scopes', scopes: ['notes:write'] },
  })
  expect(error.message).toContain('lacks scopes: notes:write')
})

test('with storedOnly, the error of a tool names only the scopes that the login lacks', async () => {
  const world = await startWorld()
  await world.call('who')
  const error = await world.fail('write', { storedOnly: true })
  expect(error).toMatchObject({ data: { reason: 'missing_scopes', scopes: ['notes:write'] } })
})

test('with storedOnly, the error says why a login is needed', async () => {
  const world = await startWorld()
  const reasonOf = async (): Promise<unknown> => {
    const error = await world.fail('who', { storedOnly: true })
    expect(error.kind).toBe('login_needed')
    return error.data?.['reason']
  }
  expect(await reasonOf()).toBe('no_login')
  await world.call('who')
  const { tokens } = await entryOf(world.vault)
  const [key = ''] = await world.vault.keys()
  const change = (changes: object): Promise<unknown> =>
    world.vault.update(key, async (current) => ({
      ...current,
      tokens: { ...tokens!, refreshToken: undefined, ...changes },
    }))
  world.server.rejected.add(tokens?.accessToken)
  await change({ expiresAt: Date.now() - 1 })
  expect(await reasonOf()).toBe('expired')
  await change({})
  expect(await reasonOf()).toBe('rejected')
  await change({ refreshToken: 'unknown' })
  expect(await reasonOf()).toBe('revoked')
})
