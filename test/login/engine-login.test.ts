import { expect, test } from 'vitest'
import { introspection } from '../../src/auth.ts'
import { INTROSPECTOR } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, expire, SCOPES, startWorld } from './engine-world.ts'

test('a rejected request starts a login, and later requests use its token [S4-6-7]', async () => {
  const { issuer, server, pages, login } = await startWorld()
  const client = openAuth(login(), server.url)
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
  expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
  expect(server.replies.map(({ status }) => status)).toEqual([401, 200, 200])
  const [asked] = issuer.requests
  expect(asked?.get('resource')).toBe(server.url.href)
  expect(asked?.get('code_challenge_method')).toBe('S256')
  expect(asked?.get('scope')).toBe('notes:read offline_access')
  expect(pages).toHaveLength(1)
})

test('another client with the same vault needs no login, and no request without a token', async () => {
  const { issuer, server, login } = await startWorld()
  await callTool(openAuth(login(), server.url), server.url, 'who')
  expect(await callTool(openAuth(login(), server.url), server.url, 'who')).toBe('ann notes:read')
  expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
  expect(server.replies.map(({ status }) => status)).toEqual([401, 200, 200])
})

test('200 calls that wait for a login cause one', async () => {
  const { issuer, server, pages, login } = await startWorld()
  const client = openAuth(login(), server.url)
  const calls = Array.from({ length: 200 }, () => callTool(client, server.url, 'who'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann notes:read']))
  expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
  expect(pages).toHaveLength(1)
})

test('C.oauth-refresh-race 200 concurrent calls with an expired token cause exactly one refresh, and the expired token is not sent [S4-7-7]', async () => {
  const { issuer, server, vault, login } = await startWorld()
  await callTool(openAuth(login(), server.url), server.url, 'who')
  const { tokens: old } = await entryOf(vault)
  await expire(vault)
  issuer.log.length = 0
  server.replies.length = 0
  const client = openAuth(login(), server.url)
  const calls = Array.from({ length: 200 }, () => callTool(client, server.url, 'who'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann notes:read']))
  expect(issuer.log).toEqual(['grant refresh_token'])
  expect(server.replies).toHaveLength(200)
  expect(server.replies.some(({ token }) => token === old?.accessToken)).toBe(false)
  const { tokens } = await entryOf(vault)
  expect(tokens?.refreshToken).not.toBe(old?.refreshToken)
})

test('C.oauth-refresh-race 200 concurrent calls whose token the server rejects cause exactly one refresh', async () => {
  const { issuer, server, vault, login } = await startWorld()
  const client = openAuth(login(), server.url)
  await callTool(client, server.url, 'who')
  server.rejected.add((await entryOf(vault)).tokens?.accessToken)
  issuer.log.length = 0
  const calls = Array.from({ length: 200 }, () => callTool(client, server.url, 'who'))
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['ann notes:read']))
  expect(issuer.log).toEqual(['grant refresh_token'])
})

test('after a user revoked the access at the issuer, the client asks for a new login', async () => {
  const { issuer, server, vault, pages, login } = await startWorld({ opaque: true })
  const client = openAuth(login(), server.url)
  await callTool(client, server.url, 'who')
  const { tokens, registration } = await entryOf(vault)
  await issuer.revoke(tokens!.accessToken, registration!.clientId)
  // The server would ask the issuer again only after a while.
  server.protect(
    introspection({ issuer: issuer.url, resource: server.url.href, scopes: SCOPES, ...INTROSPECTOR }),
  )
  issuer.log.length = 0
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
  expect(issuer.log).toEqual(['refused refresh_token', 'grant authorization_code'])
  expect(pages).toHaveLength(2)
})

test('a token that lives only seconds is not refreshed for every request', async () => {
  const { issuer, server, login } = await startWorld()
  issuer.ttl = 4
  const client = openAuth(login(), server.url)
  for (let call = 0; call < 3; call++) await callTool(client, server.url, 'who')
  expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
})

test('C.oauth-refresh-reuse clients that share a vault use each refresh token once', async () => {
  const { issuer, server, vault, login } = await startWorld()
  await callTool(openAuth(login(), server.url), server.url, 'who')
  issuer.log.length = 0
  for (let turn = 0; turn < 5; turn++) {
    await expire(vault)
    const clients = Array.from({ length: 8 }, () => openAuth(login(), server.url))
    await Promise.all(clients.map((client) => callTool(client, server.url, 'who')))
  }
  expect(issuer.log).toEqual(Array.from({ length: 5 }, () => 'grant refresh_token'))
})

test('C.oauth-refresh-reuse if the issuer rejects the refresh token, the user logs in again', async () => {
  const { issuer, server, vault, pages, login } = await startWorld()
  await callTool(openAuth(login(), server.url), server.url, 'who')
  const { tokens, registration } = await entryOf(vault)
  await issuer.revoke(tokens!.refreshToken!, registration!.clientId)
  await expire(vault)
  issuer.log.length = 0
  expect(await callTool(openAuth(login(), server.url), server.url, 'who')).toBe('ann notes:read')
  expect(issuer.log).toEqual(['refused refresh_token', 'grant authorization_code'])
  expect(pages).toHaveLength(2)
  expect((await entryOf(vault)).registration?.clientId).toBe(registration?.clientId)
})

test('a missing scope is requested together with those that the client has', async () => {
  const { issuer, server, login } = await startWorld()
  const client = openAuth(login(), server.url)
  await callTool(client, server.url, 'who')
  expect(await callTool(client, server.url, 'write')).toBe('notes:read notes:write')
  expect(new Set(issuer.requests[1]?.get('scope')?.split(' '))).toEqual(
    new Set(['notes:read', 'notes:write', 'offline_access']),
  )
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read notes:write')
  expect(issuer.requests).toHaveLength(2)
})

test('storedOnly uses and refreshes what is stored, and never asks anyone to log in', async () => {
  const { issuer, server, vault, pages, login } = await startWorld()
  const stranger = openAuth(login({ storedOnly: true }), server.url)
  const error = await callTool(stranger, server.url, 'who').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'login_needed', hint: expect.stringContaining('without storedOnly') })
  expect(pages).toHaveLength(0)
  await callTool(openAuth(login(), server.url), server.url, 'who')
  await expire(vault)
  expect(await callTool(openAuth(login({ storedOnly: true }), server.url), server.url, 'who')).toBe(
    'ann notes:read',
  )
  await expect(
    callTool(openAuth(login({ storedOnly: true }), server.url), server.url, 'write'),
  ).rejects.toThrow('the stored login lacks scopes')
  expect(issuer.log).toEqual(['registered', 'grant authorization_code', 'grant refresh_token'])
})
