import { expect, test } from 'vitest'
import { bearer, oauth } from '../../src/auth.ts'
import { changeMetadata, logIn, startLoginIssuer } from './engine-issuer.ts'
import { callTool, openAuth } from './engine-server.ts'
import { entryOf, SCOPES, startWorld, type World } from './engine-world.ts'

/** Lets the server trust other issuers from now on. */
function trust({ server }: World, ...issuer: readonly string[]): void {
  server.protect(oauth({ issuer, resource: server.url.href, scopes: SCOPES }))
}

test('C.oauth-two-issuers when the server moves to another issuer, the client registers there and sends it nothing of the old one [R285]', async () => {
  const world = await startWorld()
  const { issuer: first, server, vault, login } = world
  const client = openAuth(login(), server.url)
  await callTool(client, server.url, 'who')
  const old = await entryOf(vault, first.url)
  const second = await startLoginIssuer()
  trust(world, second.url)
  first.log.length = 0
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
  expect(first.log).toEqual([])
  expect(second.log).toEqual(['registered', 'grant authorization_code'])
  expect(second.requests[0]?.get('client_id')).not.toBe(old.registration?.clientId)
  // The registration is good for the day when the server moves back; the tokens are not.
  expect(await entryOf(vault, first.url)).toEqual({ registration: old.registration })
  expect((await entryOf(vault, second.url)).tokens).toBeDefined()
  trust(world, first.url)
  expect(await callTool(client, server.url, 'who')).toBe('ann notes:read')
  expect(first.log).toEqual(['grant authorization_code'])
})

test('a client that starts after the move finds out as well', async () => {
  const world = await startWorld()
  await world.call('who')
  const second = await startLoginIssuer()
  trust(world, second.url)
  expect(await world.call('who')).toBe('ann notes:read')
  expect(second.log).toEqual(['registered', 'grant authorization_code'])
  world.server.replies.length = 0
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.server.replies.map(({ status }) => status)).toEqual([200])
})

test('a client id that was given is not sent to another issuer, unless the option issuer says so', async () => {
  const clients = [
    {
      client_id: 'desk',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ]
  const world = await startWorld({ configuration: { clients } })
  expect(await world.call('who', { clientId: 'desk' })).toBe('ann notes:read')
  expect(world.issuer.log).toEqual(['grant authorization_code'])
  const second = await startLoginIssuer({ configuration: { clients } })
  trust(world, second.url)
  const error = await world.fail('who', { clientId: 'desk' })
  expect(error.message).toContain(`the client id belongs to ${world.issuer.url}`)
  expect(error.message).toContain(`issuer: '${second.url}'`)
  expect(second.requests).toEqual([])
  expect(await world.call('who', { clientId: 'desk', issuer: second.url })).toBe('ann notes:read')
})

test('C.oauth-two-issuers of several issuers the client uses the one where it has a login, else the first', async () => {
  const world = await startWorld()
  const second = await startLoginIssuer()
  trust(world, second.url, world.issuer.url)
  await world.call('who')
  expect(second.log).toEqual(['registered', 'grant authorization_code'])
  trust(world, world.issuer.url, second.url)
  await world.call('write')
  expect(second.log).toEqual(['registered', 'grant authorization_code', 'grant authorization_code'])
  expect(world.issuer.log).toEqual([])
})

test('the option issuer allows no other', async () => {
  const world = await startWorld()
  const error = await world.fail('who', { issuer: 'https://id.example' })
  expect(error.message).toContain(`names ${world.issuer.url} as its issuer`)
  expect(error.message).toContain('only https://id.example')
  expect(world.pages).toEqual([])
})

test('C.oauth-token-foreign an issuer cannot use the login page of another to get its codes', async () => {
  const world = await startWorld()
  const hostile = await startLoginIssuer()
  await changeMetadata(hostile, { authorization_endpoint: `${world.issuer.url}/auth` })
  trust(world, hostile.url)
  const error = await world.fail('who')
  for (const part of [hostile.url, `allowOrigins: ["${world.issuer.url}"]`])
    expect(error.message).toContain(part)
  expect({ pages: world.pages, log: hostile.log }).toEqual({ pages: [], log: [] })
})

test('credentials of different methods and clients are kept apart', async () => {
  const clients = ['desk', 'lamp'].map((id) => ({
    client_id: id,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  }))
  const world = await startWorld({ configuration: { clients } })
  await world.call('who', { clientId: 'desk' })
  await world.call('who', { clientId: 'lamp' })
  await world.call('who')
  expect(world.pages.map((page) => page.searchParams.get('client_id')).slice(0, 2)).toEqual(['desk', 'lamp'])
  expect(await world.vault.keys()).toHaveLength(3)
})

test('a token is only sent to the server that it was obtained for, not to another under the same origin', async () => {
  const world = await startWorld()
  await world.call('who')
  const other = new URL('/mcp/elsewhere', world.server.url)
  const sent: unknown[] = []
  const { signal } = new AbortController()
  await openAuth(world.login(), other).attempt({ verb: 'POST', url: other, signal }, async (headers) => {
    sent.push(headers)
    return new Response()
  })
  expect(sent).toEqual([{}])
})

test('if the port of the registered redirect URI is in use, the client registers another', async () => {
  const world = await startWorld()
  await world.call('who')
  const [key] = await world.vault.keys()
  await world.vault.update(key as string, async (current) => ({
    registration: {
      ...current!.registration!,
      clientId: 'forgotten',
      redirectUris: [`${world.server.url.origin}/callback`],
    },
  }))
  world.issuer.log.length = 0
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.issuer.log).toEqual(['registered', 'grant authorization_code'])
})

test('if the token endpoint does not know the client any more, the client registers and logs in again', async () => {
  const world = await startWorld()
  const { issuer, vault } = world
  await world.call('who')
  const [key] = await vault.keys()
  await vault.update(key as string, async ({ registration } = {}) => ({ registration }))
  issuer.log.length = 0
  let refusals = 0
  issuer.instead.set('/token', (_, response) => {
    if (++refusals === 1) issuer.instead.delete('/token')
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: 'invalid_client' }))
  })
  expect(await world.call('who', { open: (page) => logIn(page) })).toBe('ann notes:read')
  expect(refusals).toBe(1)
  expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
})

test('a server that seems to have moved, because its metadata is gone for a moment, costs no tokens', async () => {
  const world = await startWorld()
  const { server, vault, login } = world
  await world.call('who')
  const before = await entryOf(vault, world.issuer.url)
  const client = openAuth(login({ storedOnly: true }), server.url)
  const { signal } = new AbortController()
  server.protect(bearer(() => undefined))
  await expect(
    client.attempt(
      { verb: 'POST', url: server.url, signal },
      async () => new Response(null, { status: 401 }),
    ),
  ).rejects.toMatchObject({ kind: 'login_needed' })
  expect(await entryOf(vault, world.issuer.url)).toEqual(before)
  trust(world, world.issuer.url)
  expect(await world.call('who')).toBe('ann notes:read')
  expect(world.pages).toHaveLength(1)
})
