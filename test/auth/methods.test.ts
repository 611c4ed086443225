import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeys, introspection, oauth } from '../../src/auth.ts'
import { createAuthority } from '../harness/certificates.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { connected, folder, who } from './keys-child.ts'
import { authority, listenSecure, pair, REJECTED, SECURE, server as own } from './secure.ts'
import { as, callTool, listen, RESOURCE, textOf } from './server.ts'

let issuer: Issuer

beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.close())

async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await callTool(url, 'who', headers)).status
}

test('a server can be protected with each of the three methods, OAuth tokens, mutual TLS with pinned certificates and key pairs on stdio, and without any it serves everyone [S1-6.1-1] [S2-13-S10] [S2-15-9]', async () => {
  const open = await listen(undefined)
  expect(await textOf(await callTool(open.url, 'who'))).toBe('nobody')

  const { url } = await listen(oauth({ issuer: issuer.url, resource: RESOURCE }))
  const token = await issuer.token({ resource: RESOURCE })
  expect(await textOf(await callTool(url, 'who', as(token)))).toBe('robot')
  expect([await statusOf(url), await statusOf(url, as(`${token}x`))]).toEqual([401, 401])

  const [anna, berta] = [authority.issue('anna'), authority.issue('berta')]
  for (const transport of SECURE) {
    const tls = { ...pair(own), ca: authority.cert, pin: anna.fingerprint }
    const { ask } = await listenSecure(transport, tls)
    expect(await ask(anna)).toMatchObject({ fingerprint: anna.fingerprint })
    for (const other of [undefined, berta]) await expect(ask(other)).rejects.toThrow(REJECTED)
  }

  const [ann, bob] = ['ann', 'bob'].map((name) => createKeys(join(folder, `methods-${name}.pem`)))
  const plan = { clients: [{ key: ann!.publicKey, sub: 'ann' }] }
  expect(await who(await connected(plan, { keys: { own: ann! } }))).toMatchObject({ sub: 'ann' })
  await expect(connected(plan)).rejects.toThrow('only clients that prove their key pair first')
  await expect(connected(plan, { keys: { own: bob! } })).rejects.toThrow('pin it on the server')
})

test('OAuth policies hold with a real authorization server, and TLS policies with real certificates [S1-10-7]', async () => {
  const { url: issuerUrl, clientId, clientSecret } = issuer
  const asked = introspection({
    issuer: issuerUrl,
    clientId,
    clientSecret,
    resource: RESOURCE,
    recheck: '0s',
  })
  const scopes = ['notes:write']
  const { url } = await listen([oauth({ issuer: issuerUrl, resource: RESOURCE, scopes }), asked])
  const all = 'notes:read notes:write'
  const good = await issuer.token({ resource: RESOURCE, scope: all })
  const opaque = await issuer.token({ resource: RESOURCE, scope: all, opaque: true })
  expect([await statusOf(url, as(good)), await statusOf(url, as(opaque))]).toEqual([200, 200])
  await issuer.revoke(opaque)
  const other = await issuer.token({ resource: 'https://other.example/mcp', scope: all })
  const weak = await issuer.token({ resource: RESOURCE, scope: 'notes:read' })
  const [head, claims] = good.split('.')
  expect([
    await statusOf(url),
    await statusOf(url, as(`${head}.${claims}.${other.split('.')[2]}`)),
    await statusOf(url, as(other)),
    await statusOf(url, as(opaque)),
    await statusOf(url, as(weak)),
  ]).toEqual([401, 401, 401, 401, 403])

  const foreign = createAuthority('Another authority')
  const anna = authority.issue('anna')
  const bad = {
    foreign: foreign.issue('anna'),
    expired: authority.issue('anna', [], new Date(Date.now() - 60_000)),
    missing: undefined,
  }
  for (const transport of SECURE) {
    const { ask } = await listenSecure(transport, { ...pair(own), ca: authority.cert })
    expect(await ask(anna)).toMatchObject({ sub: 'O=Harbour\nCN=anna' })
    for (const client of Object.values(bad)) await expect(ask(client)).rejects.toThrow(REJECTED)
    // The client checks the certificate of the server, too.
    await expect(ask(anna, foreign.cert)).rejects.toThrow(/certificate|cannot connect/)
  }
})
