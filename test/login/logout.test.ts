import { expect, onTestFinished, test, vi } from 'vitest'
import { memoryVault, type Vault } from '../../src/auth-client.ts'
import { pause } from '../../src/base/backoff.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { changeMetadata, record, startLoginIssuer } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, startWorld } from './engine-world.ts'

const REVOCATION = '/token/revocation'

test('a logout revokes the tokens at the issuer and forgets them, and the next request logs in again', async () => {
  const world = await startWorld({ opaque: true })
  const revoked = record(world.issuer, REVOCATION)
  const auth = world.login()
  const client = openAuth(auth, world.server.url)
  await callTool(client, world.server.url, 'who')
  const { tokens } = await entryOf(world.vault)
  expect(await auth.logout(world.server.url)).toEqual([{ issuer: world.issuer.url, revoked: true }])
  expect(await world.vault.keys()).toEqual([])
  const sent = revoked.map(({ body }) => new URLSearchParams(body))
  expect(sent.map((form) => form.get('token'))).toEqual([tokens?.refreshToken, tokens?.accessToken])
  expect(sent.map((form) => form.get('token_type_hint'))).toEqual(['refresh_token', 'access_token'])
  world.server.replies.length = 0
  expect(await callTool(client, world.server.url, 'who')).toBe('ann notes:read')
  expect(world.server.replies.map(({ token }) => token)[0]).toBe(undefined)
  expect(world.pages).toHaveLength(2)
})

test('a server to which nobody logged in has nothing to log out of', async () => {
  const world = await startWorld()
  const auth = world.login()
  expect(await auth.logout(world.server.url)).toEqual([])
  expect(await auth.logout('https://mcp.example/mcp')).toEqual([])
  await expect(auth.logout('mcp.example')).rejects.toMatchObject({ kind: 'bad_option' })
  await expect(auth.logout(world.server.url, { time: 1 } as never)).rejects.toMatchObject({
    kind: 'bad_option',
  })
})

test('the tokens are removed before the issuer is asked, and an issuer that does not reply is not waited for', async () => {
  const world = await startWorld()
  await world.call('who')
  const asked = new Deferred<readonly string[]>()
  world.issuer.instead.set(REVOCATION, () => void world.vault.keys().then((keys) => asked.resolve(keys)))
  const done = world.login().logout(world.server.url, { timeout: '300ms' })
  expect(await asked.promise).toEqual([])
  expect(await done).toEqual([
    { issuer: world.issuer.url, revoked: false, reason: 'the issuer took too long' },
  ])
})

test.each([
  ['does not offer to revoke tokens', { revocation_endpoint: undefined }],
  ['revokes tokens elsewhere', { revocation_endpoint: 'http://127.0.0.1:9/revoke' }],
  ['status 503', {}],
])('an issuer that %s is reported, without secrets', async (text, changes) => {
  const world = await startWorld()
  await world.call('who')
  const { tokens } = await entryOf(world.vault)
  await changeMetadata(world.issuer, changes)
  world.issuer.instead.set(REVOCATION, (_, response) => response.writeHead(503).end(tokens?.refreshToken))
  const [result] = await world.login().logout(world.server.url)
  expect(result).toMatchObject({ issuer: world.issuer.url, revoked: false })
  expect(result?.reason).toContain(text)
  expect(result?.reason).not.toContain(tokens?.refreshToken)
  expect(await world.vault.keys()).toEqual([])
})

test('if only the refresh token can be revoked, the result says so', async () => {
  const world = await startWorld()
  await world.call('who')
  const [result] = await world.login().logout(world.server.url)
  expect(result).toMatchObject({ issuer: world.issuer.url, revoked: false })
  expect(result?.reason).toContain(
    'the refresh token is revoked, and the access token is good until it expires',
  )
})

test('an issuer that is gone is reported too', async () => {
  const world = await startWorld()
  await world.call('who')
  for (const name of ['openid-configuration', 'oauth-authorization-server'])
    world.issuer.instead.set(`/.well-known/${name}`, (_, response) => response.destroy())
  const [result] = await world.login().logout(world.server.url)
  expect(result).toMatchObject({ revoked: false, reason: expect.stringContaining('cannot reach') as unknown })
  expect(await world.vault.keys()).toEqual([])
})

test('a logout covers all issuers of a server, and no other server, user or client', async () => {
  const [world, other] = [await startWorld(), await startWorld()]
  await world.call('who')
  await world.call('who', { user: 'bert' })
  await other.call('who', { vault: world.vault })
  const second = await startLoginIssuer()
  const [key = ''] = (await world.vault.keys()).filter((one) => one.includes(world.issuer.url))
  const entry = await world.vault.read(key)
  await world.vault.update(key.replaceAll(world.issuer.url, second.url), async () => entry)
  const results = await world.login().logout(world.server.url)
  expect(results.map(({ issuer }) => issuer).toSorted()).toEqual([world.issuer.url, second.url].toSorted())
  expect((await world.vault.keys()).length).toBe(2)
  expect(await other.call('who', { vault: world.vault })).toBe('ann notes:read')
  expect(await world.call('who', { user: 'bert', storedOnly: true })).toBe('ann notes:read')
})

test('a login that runs when the user logs out ends, and stores nothing', async () => {
  const world = await startWorld()
  const shown = new Deferred<AbortSignal>()
  const auth = world.login({
    open: (_, { signal }) => {
      shown.resolve(signal)
      return new Promise(() => undefined)
    },
  })
  const call = callTool(openAuth(auth, world.server.url), world.server.url, 'who')
  const failed = call.catch((thrown: unknown) => thrown)
  const signal = await shown.promise
  expect(await auth.logout(world.server.url)).toEqual([])
  expect(await failed).toMatchObject({
    kind: 'login_failed',
    message: expect.stringContaining('logged out') as unknown,
  })
  expect(signal.aborted).toBe(true)
  expect(await world.vault.keys()).toEqual([])
})

test('a refresh that runs when the user logs out ends at once, and leaves no token', async () => {
  const world = await startWorld({ opaque: true })
  const auth = world.login()
  const client = openAuth(auth, world.server.url)
  await callTool(client, world.server.url, 'who')
  const refreshing = new Deferred<undefined>()
  // The issuer never answers the refresh.
  world.issuer.instead.set('/token', () => refreshing.resolve(undefined))
  world.server.rejected.add((await entryOf(world.vault)).tokens?.accessToken)
  const call = callTool(client, world.server.url, 'who').catch((thrown: unknown) => thrown)
  await refreshing.promise
  expect(await auth.logout(world.server.url)).toEqual([{ issuer: world.issuer.url, revoked: true }])
  expect(await call).toMatchObject({
    kind: 'login_failed',
    message: expect.stringContaining('logged out') as unknown,
  })
  expect(await world.vault.keys()).toEqual([])
  world.issuer.instead.delete('/token')
  world.server.replies.length = 0
  await callTool(client, world.server.url, 'who')
  expect(world.server.replies[0]?.token).toBe(undefined)
})

test('a logout waits no longer than its timeout for somebody else who changes the entry, and says so', async () => {
  const world = await startWorld()
  await world.call('who')
  const [key = ''] = await world.vault.keys()
  const [begun, end] = [new Deferred<undefined>(), new Deferred<undefined>()]
  const change = world.vault.update(key, async (current) => {
    begun.resolve(undefined)
    await end.promise
    return current
  })
  await begun.promise
  const auth = world.login()
  await expect(auth.logout(world.server.url, { timeout: '20ms' })).rejects.toMatchObject({
    kind: 'vault_failed',
    message: expect.stringContaining('log out again') as unknown,
    retryable: true,
  })
  end.resolve(undefined)
  await change
  expect(await auth.logout(world.server.url)).toHaveLength(1)
  expect(await world.vault.keys()).toEqual([])
})

test('a logout waits no longer than its timeout for a login that it cancels', async () => {
  const world = await startWorld()
  const shown = new Deferred<undefined>()
  const auth = world.login({
    open: () => {
      shown.resolve(undefined)
      return new Promise(() => undefined)
    },
  })
  const call = callTool(openAuth(auth, world.server.url), world.server.url, 'who')
  const failed = call.catch((thrown: unknown) => thrown)
  await shown.promise
  const [key = ''] = await world.vault.keys()
  const end = new Deferred<undefined>()
  const change = world.vault.update(key, async (current) => {
    await end.promise
    return current
  })
  await expect(auth.logout(world.server.url, { timeout: '20ms' })).rejects.toMatchObject({
    kind: 'vault_failed',
    retryable: true,
  })
  expect(await failed).toMatchObject({ kind: 'login_failed' })
  end.resolve(undefined)
  await change
  expect(await auth.logout(world.server.url)).toEqual([])
  expect(await world.vault.keys()).toEqual([])
})

test('a call that comes before the vault is empty does not find the old tokens there', async () => {
  const world = await startWorld()
  const [removing, go] = [new Deferred<undefined>(), new Deferred<undefined>()]
  let isLeaving = false
  const update: Vault['update'] = async (...given) => {
    if (isLeaving) {
      isLeaving = false
      removing.resolve(undefined)
      await go.promise
    }
    return world.vault.update(...given)
  }
  const auth = world.login({ vault: { ...world.vault, update } })
  const client = openAuth(auth, world.server.url)
  await callTool(client, world.server.url, 'who')
  const old = (await entryOf(world.vault)).tokens?.accessToken
  isLeaving = true
  const left = auth.logout(world.server.url)
  await removing.promise
  world.server.replies.length = 0
  const call = callTool(client, world.server.url, 'who')
  // A call that does not wait for the logout is over by then.
  await Promise.race([call, pause(300)])
  go.resolve(undefined)
  expect(await left).toHaveLength(1)
  expect(await call).toBe('ann notes:read')
  expect(world.server.replies.map(({ token }) => token)).not.toContain(old)
  expect(world.pages).toHaveLength(2)
})

test('a client that reads the vault while the user logs out does not use what it has read', async () => {
  const world = await startWorld()
  await world.call('who')
  const [reading, go] = [new Deferred<undefined>(), new Deferred<undefined>()]
  const read: Vault['read'] = async (key) => {
    const found = await world.vault.read(key)
    reading.resolve(undefined)
    await go.promise
    return found
  }
  const auth = world.login({ vault: { ...world.vault, read } })
  world.server.replies.length = 0
  const call = callTool(openAuth(auth, world.server.url), world.server.url, 'who')
  await reading.promise
  expect(await auth.logout(world.server.url)).toHaveLength(1)
  go.resolve(undefined)
  expect(await call).toBe('ann notes:read')
  expect(world.server.replies[0]?.token).toBe(undefined)
  expect(world.pages).toHaveLength(2)
})

test('a login that was cancelled stores no tokens, however late it ends', async () => {
  const world = await startWorld()
  const [begun, end] = [new Deferred<undefined>(), new Deferred<undefined>()]
  const auth = world.login()
  let change: Promise<unknown> | undefined
  // Somebody else holds the entry when the tokens arrive.
  record(world.issuer, '/token', async (reply) => {
    const [key = ''] = await world.vault.keys()
    change = world.vault.update(key, async (current) => {
      begun.resolve(undefined)
      await end.promise
      return current
    })
    return reply
  })
  const call = callTool(openAuth(auth, world.server.url), world.server.url, 'who')
  const failed = call.catch((thrown: unknown) => thrown)
  await begun.promise
  await expect(auth.logout(world.server.url, { timeout: '300ms' })).rejects.toMatchObject({
    kind: 'vault_failed',
  })
  end.resolve(undefined)
  await change
  expect(await failed).toMatchObject({ kind: 'login_failed' })
  for (const key of await world.vault.keys()) expect((await world.vault.read(key))?.tokens).toBe(undefined)
})

test('another program that shares the vault notices a logout, although its token is still good', async () => {
  const world = await startWorld()
  const client = openAuth(world.login(), world.server.url)
  await callTool(client, world.server.url, 'who')
  await world.login().logout(world.server.url)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 2_000)
  onTestFinished(() => clock.mockRestore())
  world.server.replies.length = 0
  expect(await callTool(client, world.server.url, 'who')).toBe('ann notes:read')
  expect(world.server.replies[0]?.token).toBe(undefined)
  expect(world.pages).toHaveLength(2)
})

test('a vault that cannot be read now does not cost the login of a client', async () => {
  const world = await startWorld()
  let isBroken = false
  const read = async (key: string): ReturnType<Vault['read']> => {
    if (isBroken) throw new Error('no disk')
    return world.vault.read(key)
  }
  const client = openAuth(world.login({ vault: { ...world.vault, read } }), world.server.url)
  await callTool(client, world.server.url, 'who')
  isBroken = true
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 2_000)
  onTestFinished(() => clock.mockRestore())
  expect(await callTool(client, world.server.url, 'who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})

test('two vaults have two logins', async () => {
  const world = await startWorld()
  const own = memoryVault()
  await world.call('who')
  await world.call('who', { vault: own })
  expect(await world.login({ vault: own }).logout(world.server.url)).toHaveLength(1)
  expect(await world.call('who', { storedOnly: true })).toBe('ann notes:read')
})
