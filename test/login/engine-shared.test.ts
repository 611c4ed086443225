import { expect, test } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { browser } from '../../src/auth-client.ts'
import { callTool, openAuth } from './engine-server.ts'
import { expire, startWorld } from './engine-world.ts'

test('clients of one method share a login, and the tokens after it', async () => {
  const world = await startWorld()
  const { server } = world
  const auth = world.login()
  const clients = Array.from({ length: 4 }, () => openAuth(auth, server.url))
  const calls = clients.map((client) => callTool(client, server.url, 'who'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann notes:read']))
  expect(world.pages).toHaveLength(1)
  expect(world.issuer.log).toEqual(['registered', 'grant authorization_code'])
  server.replies.length = 0
  expect(await callTool(openAuth(auth, server.url), server.url, 'who')).toBe('ann notes:read')
  expect(server.replies.map(({ status }) => status)).toEqual([200])
})

test('a client that closes does not end a login for which another client of the method waits', async () => {
  const world = await startWorld()
  const { server } = world
  const shown = new Deferred<undefined>()
  const finish = new Deferred<undefined>()
  const auth = world.login({
    open: async (page) => {
      shown.resolve(undefined)
      await finish.promise
      return world.open(page)
    },
  })
  const [one, two] = [openAuth(auth, server.url), openAuth(auth, server.url)]
  const closed = callTool(one, server.url, 'who').catch((thrown: unknown) => thrown)
  const waiting = callTool(two, server.url, 'who')
  await shown.promise
  await expect.poll(() => server.replies.length).toBe(2)
  one.close?.()
  expect(await closed).toMatchObject({ kind: 'login_failed' })
  finish.resolve(undefined)
  expect(await waiting).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})

test('clients of one method for different servers log in separately', async () => {
  const [one, two] = [await startWorld(), await startWorld()]
  const auth = browser({
    open: (page) => (page.origin === one.issuer.url ? one : two).open(page),
  })
  const calls = [one, two].map(({ server }) => callTool(openAuth(auth, server.url), server.url, 'who'))
  expect(await Promise.all(calls)).toEqual(['ann notes:read', 'ann notes:read'])
  expect([one.pages.length, two.pages.length]).toEqual([1, 1])
})

test('when all clients of a method are closed, the next one begins with what the vault has', async () => {
  const world = await startWorld()
  const auth = world.login()
  const first = openAuth(auth, world.server.url)
  await callTool(first, world.server.url, 'who')
  first.close?.()
  const [key = ''] = await world.vault.keys()
  await world.vault.update(key, async () => undefined)
  await callTool(openAuth(auth, world.server.url), world.server.url, 'who')
  expect(world.pages).toHaveLength(2)
})

test('a login that someone else finished while the issuer was looked for is used', async () => {
  const world = await startWorld()
  await world.call('who')
  const [key = ''] = await world.vault.keys()
  const login = await world.vault.read(key)
  await world.vault.update(key, async () => undefined)
  const path = '/.well-known/oauth-authorization-server'
  world.issuer.instead.set(path, (_, response) => {
    void world.vault.update(key, async () => login).then(() => response.writeHead(404).end())
  })
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
  world.issuer.instead.delete(path)
  await expire(world.vault)
  expect(await world.call('who')).toBe('ann notes:read')
})
