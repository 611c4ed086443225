import { expect, test } from 'vitest'
import { browser, clientCredentials, memoryVault } from '../../src/auth-client.ts'
import { loginRate } from '../../src/auth/client/login-rate.ts'
import { callTool, openAuth } from './engine-server.ts'
import { agree, REJECTED, startHostile } from './hostile-site.ts'

const SERVICE = { clientId: 'service', clientSecret: 'secret' }

test('a server that hides its metadata gets a token for itself only, if the option issuer is set', async () => {
  const honest = await startHostile()
  const server = await startHostile({ resource: () => ({ status: 404 }) })
  const auth = openAuth(clientCredentials({ ...SERVICE, issuer: honest.origin }), server.url)
  await callTool(auth, server.url, 'who')
  const { port } = server.url
  const spelled = new URL(`HTTP://LOCALHOST:${port}/?key=secret#part`)
  const other = openAuth(clientCredentials({ ...SERVICE, issuer: honest.origin }), spelled)
  await callTool(other, spelled, 'who')
  expect(honest.forms.map((form) => form.get('resource'))).toEqual([
    `${server.origin}/mcp`,
    `http://localhost:${port}`,
  ])
})

test('a server that spells its resource differently each time has one entry in the vault', async () => {
  let paths = 0
  const used = new Set<string | undefined>()
  const site = await startHostile({
    resource: (origin) => ({
      json: { resource: `${origin}${['/mcp', '', '/'][paths++ % 3]}`, authorization_servers: [origin] },
    }),
    // Each token is good for one call.
    call: (credentials) => (used.size < used.add(credentials).size ? undefined : REJECTED),
  })
  const vault = memoryVault()
  const auth = openAuth(clientCredentials({ ...SERVICE, vault, issuer: site.origin }), site.url)
  for (let call = 0; call < 6; call++) {
    await callTool(auth, site.url, 'who')
    expect(await vault.keys()).toHaveLength(1)
  }
})

test('a server that names another issuer each time leaves few registrations in the vault', async () => {
  let turn = 0
  const used = new Set<string | undefined>()
  const site = await startHostile({
    resource: (origin) => ({
      json: { resource: `${origin}/mcp`, authorization_servers: [`${origin}/${++turn}`] },
    }),
    issuer: (origin) => ({ issuer: `${origin}/${turn}` }),
    call: (credentials) => (used.size < used.add(credentials).size ? undefined : REJECTED),
  })
  const vault = memoryVault()
  const auth = openAuth(browser({ vault, open: agree }), site.url)
  for (let call = 0; call < 12; call++) {
    await callTool(auth, site.url, 'who')
    // As if an hour had passed; otherwise a server cannot cause so many logins.
    loginRate.reset(`browser ${site.url.href}`)
  }
  expect([turn, (await vault.keys()).length]).toEqual([12, 5])
})

const ODD: readonly (readonly [string, (origin: string) => string])[] = [
  ['/b', (origin) => `${origin}/a/../b`],
  ['/b', (origin) => `${origin}/a/%2e%2e/b`],
  ['/b', (origin) => `${origin.replace('//', '\\\\')}\\b`],
  ['/@good.example/mcp', (origin) => `${origin}\\@good.example/mcp`],
  ['/b', (origin) => ` ${origin}/b\n`],
  ['/b', (origin) => `${origin}/${'./'.repeat(30_000)}b`],
  [`/${'b'.repeat(2048)}`, (origin) => `${origin}/${'b'.repeat(2048)}`],
]

test.each(ODD)(
  'C.oauth-resource an odd spelling of a resource is not sent to an issuer (%#)',
  async (path, spell) => {
    const site = await startHostile({
      resource: (origin) => ({ json: { resource: spell(origin), authorization_servers: [origin] } }),
    })
    const url = new URL(path, site.origin)
    const call = callTool(openAuth(clientCredentials({ ...SERVICE, issuer: site.origin }), url), url, 'who')
    await expect(call).rejects.toThrow('which is not a URL in its normal form')
    expect(site.forms).toEqual([])
  },
)

test('the case of scheme and host does not matter in a resource, and the normal form is sent', async () => {
  const site = await startHostile({
    resource: (origin) => ({
      json: { resource: `${origin.replace('http://', 'HTTP://')}/mcp`, authorization_servers: [origin] },
    }),
  })
  await callTool(openAuth(clientCredentials({ ...SERVICE, issuer: site.origin }), site.url), site.url, 'who')
  expect(site.forms[0]?.get('resource')).toBe(site.url.href)
})

const PORT_OF = (origin: string): string => new URL(origin).port

test.each<readonly [string, (origin: string) => string]>([
  ['spaces', (origin) => `${origin}/ (mirror of https://accounts.example)`],
  ['a line break', (origin) => `${origin}/\n\nSECURITY CHECK PASSED`],
  ['an escape sequence', (origin) => `${origin}/\u001b[2K`],
  ['a change of direction', (origin) => `${origin}/\u202Emoc.elpmaxe`],
  ['line breaks in its scheme', (origin) => `h\nt\nt\np://127.0.0.1:${PORT_OF(origin)}`],
  ['backslashes', (origin) => `${origin.replace('//', '\\\\')}\\accounts`],
  ['letters that look like others', (origin) => `http://аccounts.example⁄x.localhost:${PORT_OF(origin)}`],
  ['invisible letters', (origin) => `${origin}/\u200b\u00ad\u3164x`],
  ['too many letters', (origin) => `${origin}/${'a'.repeat(2048)}`],
])('an issuer with %s is never shown to the user', async (_, spell) => {
  const shown: string[] = []
  const open = (_page: URL, { issuer }: { readonly issuer: string }): never => {
    shown.push(issuer)
    throw new Error('declined')
  }
  for (const isOld of [false, true]) {
    const site = await startHostile({
      resource: (origin) =>
        isOld
          ? { status: 404 }
          : { json: { resource: `${origin}/mcp`, authorization_servers: [spell(origin)] } },
      issuer: (origin) => ({ issuer: spell(origin) }),
    })
    await expect(callTool(openAuth(browser({ open }), site.url), site.url, 'who')).rejects.toThrow('log in')
  }
  expect(shown).toEqual([])
})
