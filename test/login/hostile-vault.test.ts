import { expect, test } from 'vitest'
import { browser, clientCredentials, memoryVault } from '../../src/auth-client.ts'
import { isStoredCredentials } from '../../src/auth/client/stored-credentials.ts'
import { callTool, openAuth } from './engine-server.ts'
import { agree, startHostile, type HostileReplies } from './hostile-site.ts'

const TOKEN = '"access_token":"token","token_type":"Bearer"'
const CLIENT = '"client_id":"client","client_secret":"secret"'

test.each<readonly [string, HostileReplies]>([
  ['expires_in', { token: () => ({ json: `{${TOKEN},"expires_in":1e306}` }) }],
  ['client_secret_expires_at', { register: () => `{${CLIENT},"client_secret_expires_at":1e306}` }],
])('a huge %s leaves an entry that can be read again', async (_, replies) => {
  const site = await startHostile(replies)
  const vault = memoryVault()
  const options = { vault, open: agree }
  await callTool(openAuth(browser(options), site.url), site.url, 'who')
  const [key] = await vault.keys()
  expect(isStoredCredentials(await vault.read(key as string))).toBe(true)
  await callTool(openAuth(browser({ ...options, storedOnly: true }), site.url), site.url, 'who')
  expect(site.forms).toHaveLength(1)
})

test('services with other scopes that share a vault do not use tokens of each other', async () => {
  const site = await startHostile()
  const vault = memoryVault()
  const call = (...scopes: readonly string[]): Promise<string> => {
    const auth = clientCredentials({
      clientId: 'service',
      clientSecret: 'secret',
      issuer: site.origin,
      vault,
      scopes,
    })
    return callTool(openAuth(auth, site.url), site.url, 'who')
  }
  expect([await call('read'), await call('read', 'write'), await call('write', 'read')]).toEqual([
    'Bearer token-1',
    'Bearer token-2',
    'Bearer token-2',
  ])
  expect(site.forms.map((form) => form.get('scope'))).toEqual(['read', 'read write'])
})

test('an issuer that repeats the credentials of a client does not get them into an error', async () => {
  const site = await startHostile({
    token: (_, { headers }) => ({
      status: 401,
      json: { error: 'invalid_client', error_description: `got ${headers.authorization}` },
    }),
  })
  const auth = clientCredentials({ clientId: 'a', clientSecret: 'SECRET-VALUE', issuer: site.origin })
  const error = await callTool(openAuth(auth, site.url), site.url, 'who').catch((thrown: unknown) => thrown)
  expect((error as Error).message).toContain('invalid_client')
  expect((error as Error).message).not.toContain(btoa('a:SECRET-VALUE').replace(/=+$/, ''))
})

test('a refreshed token has the same limit as the first one', async () => {
  const site = await startHostile({
    token: (form) => ({
      json: {
        access_token: form.get('grant_type') === 'refresh_token' ? 'x'.repeat(20_000) : 'first',
        refresh_token: 'again',
        token_type: 'Bearer',
        expires_in: form.get('grant_type') === 'refresh_token' ? 3600 : 0,
      },
    }),
  })
  const vault = memoryVault()
  const auth = browser({ vault, open: agree })
  await callTool(openAuth(auth, site.url), site.url, 'who')
  await callTool(openAuth(auth, site.url), site.url, 'who').catch(() => undefined)
  expect(site.forms.at(-1)?.get('grant_type')).toBe('refresh_token')
  const [key] = await vault.keys()
  expect((await vault.read(key as string))?.tokens?.accessToken).toBe('first')
})

test('what a vault of the program throws is an error of the vault, for calls and logouts', async () => {
  const broken = async (): Promise<never> => {
    throw new TypeError('the database is gone')
  }
  const vault = { name: 'databaseVault', read: broken, update: broken, keys: broken }
  const auth = browser({ vault })
  const url = new URL('https://mcp.example/mcp')
  const { signal } = new AbortController()
  const client = openAuth(auth, url)
  const failure = {
    kind: 'vault_failed',
    message: expect.stringMatching(/databaseVault.*the database is gone/) as unknown,
  }
  await expect(
    client.attempt({ verb: 'POST', url, signal }, async () => new Response()),
  ).rejects.toMatchObject(failure)
  await expect(auth.logout(url)).rejects.toMatchObject(failure)
})
