import { describe, expect, test } from 'vitest'
import { authority, listenSecure, pair, REJECTED, SECURE, server, whoServer } from './secure.ts'

const TLS = { ...pair(server), ca: authority.cert }
const ISSUER = 'CN=Harbour authority'

describe.each(SECURE)('client certificates with an empty subject over %s', (transport) => {
  test('are known by all their alternative names, and can be revoked by them', async () => {
    const [anna, berta] = ['anna', 'berta'].map((name) =>
      authority.issueNameless(['DNS:shared.example', `URI:spiffe://harbour/${name}`]),
    )
    const app = whoServer()
    const { ask } = await listenSecure(transport, TLS, app)
    const sub = 'DNS:shared.example, URI:spiffe://harbour/anna'
    expect(await ask(anna)).toMatchObject({ sub, iss: ISSUER, subject: '', issuer: ISSUER })
    void app.revoke({ sub })
    await expect(ask(anna)).rejects.toThrow(REJECTED)
    expect(await ask(berta)).toMatchObject({ sub: 'DNS:shared.example, URI:spiffe://harbour/berta' })
  })

  test('are known by their fingerprints if they have no names, or one that cannot be read', async () => {
    const app = whoServer()
    const { ask } = await listenSecure(transport, TLS, app)
    const odd = 'otherName:1.2.3.4;UTF8:anna'
    for (const names of [[], [odd], ['DNS:anna.example', odd]]) {
      const client = authority.issueNameless(names)
      expect(await ask(client)).toMatchObject({ sub: client.fingerprint, iss: ISSUER, subject: '' })
      void app.revoke({ sub: client.fingerprint })
      await expect(ask(client)).rejects.toThrow(REJECTED)
    }
  })

  test('get the scopes that a function chooses by their names', async () => {
    const scopes = ({ sub, subject }: { readonly sub: string; readonly subject: string }): string[] =>
      subject.split('\n').includes('CN=anna') || sub === 'URI:spiffe://harbour/anna' ? ['write'] : []
    const { ask } = await listenSecure(transport, { ...TLS, scopes })
    expect(await ask(authority.issueNameless(['URI:spiffe://harbour/anna']))).toMatchObject({
      scopes: ['write'],
    })
    expect(await ask(authority.issueNameless(['URI:spiffe://harbour/berta']))).toMatchObject({ scopes: [] })
  })
})
