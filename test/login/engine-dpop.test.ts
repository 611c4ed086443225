import { expect, test } from 'vitest'
import { oauth } from '../../src/auth.ts'
import { record } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, expire, SCOPES, startWorld, type World } from './engine-world.ts'

/** Lets the server accept only tokens that are bound to a key, with or without nonces. */
function bind({ server, issuer }: World, nonces: boolean): void {
  const dpop = { required: true, nonces }
  server.protect(oauth({ issuer: issuer.url, resource: server.url.href, scopes: SCOPES, dpop }))
}

test.each([
  ['without nonces', false],
  ['with nonces', true],
])('a server that accepts only bound tokens gets them with proofs, %s', async (_, nonces) => {
  const world = await startWorld()
  bind(world, nonces)
  const client = openAuth(world.login(), world.server.url)
  expect(await callTool(client, world.server.url, 'who')).toBe('ann notes:read')
  expect(await callTool(client, world.server.url, 'who')).toBe('ann notes:read')
  const { tokens, dpopKey } = await entryOf(world.vault)
  expect(tokens?.type).toBe('dpop')
  expect(dpopKey).toHaveProperty('d')
  expect(world.issuer.requests[0]?.get('dpop_jkt')).toMatch(/^[\w-]{43}$/)
  expect(world.pages).toHaveLength(1)
})

test('the key is stored with the tokens, and used for refreshes', async () => {
  const world = await startWorld()
  bind(world, false)
  await world.call('who', { dpop: true })
  const { dpopKey } = await entryOf(world.vault)
  expect(await world.call('who', { dpop: true })).toBe('ann notes:read')
  await expire(world.vault)
  expect(await world.call('who', { dpop: true })).toBe('ann notes:read')
  expect((await entryOf(world.vault)).dpopKey).toEqual(dpopKey)
  expect(world.issuer.log).toEqual(['registered', 'grant authorization_code', 'grant refresh_token'])
})

test('an issuer that does not bind tokens is an error if the option dpop asks for it', async () => {
  const world = await startWorld({ features: { dPoP: { enabled: false } } })
  const error = await world.fail('who', { dpop: true })
  expect(error.message).toContain('option dpop')
  expect(await world.call('who')).toBe('ann notes:read')
})

test('with the option dpop, tokens that are not bound are not sent, whether stored or refreshed', async () => {
  const world = await startWorld()
  await world.call('who')
  const bare = (await entryOf(world.vault)).tokens?.accessToken
  world.server.replies.length = 0
  expect(await world.call('who', { dpop: true })).toBe('ann notes:read')
  expect(world.server.replies.map(({ token }) => token)).not.toContain(bare)
  expect((await entryOf(world.vault)).tokens?.type).toBe('dpop')
  expect(world.pages).toHaveLength(2)

  await expire(world.vault)
  const bound: string[] = []
  record(world.issuer, '/token', async (reply) => {
    const tokens = (await reply.json()) as { readonly access_token: string }
    bound.push(tokens.access_token)
    return Response.json({ ...tokens, token_type: 'Bearer' })
  })
  await world.fail('who', { dpop: true, storedOnly: true })
  expect(bound).toHaveLength(1)
  expect(world.server.replies.map(({ token }) => token)).not.toContain(bound[0])
})

test('with the option dpop, a step up of someone else does not count unless its token is bound', async () => {
  const world = await startWorld()
  await world.call('write')
  const stored = await entryOf(world.vault)
  const [key = ''] = await world.vault.keys()
  await world.login().logout(world.server.url)
  const client = openAuth(world.login({ dpop: true }), world.server.url)
  await callTool(client, world.server.url, 'who')
  await world.vault.update(key, async () => stored)
  world.server.replies.length = 0
  await callTool(client, world.server.url, 'write')
  expect(world.server.replies.map(({ token }) => token)).not.toContain(stored.tokens?.accessToken)
})
