import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { createAuthority, selfSigned, type Identity } from '../harness/certificates.ts'
import type { AnyApp } from '../harness/connection.ts'
import { failure } from '../hostile/peer.ts'
import { after, dial, serve } from './wire.ts'

const authority = createAuthority('Harbour authority')
const server = authority.issue('server', ['localhost', '127.0.0.1'])
const anna = authority.issue('anna')
const stranger = selfSigned('anna')
const pair = ({ key, cert }: Identity): { readonly key: string; readonly cert: string } => ({ key, cert })

function make(): AnyApp {
  return createServer({ name: 'secure', version: '1', log: () => undefined }).tool('who', {}, (_, { auth }) =>
    JSON.stringify(auth ?? null),
  ) as AnyApp
}

async function listen(tls: object = {}): Promise<string> {
  const running = await serve(make(), { tcp: { port: 0, tls: { ...pair(server), ...tls } } })
  return running.addresses.tcp as string
}

async function whoAmI(address: string, options: Parameters<typeof connect>[1] = {}): Promise<unknown> {
  const client = await connect(address, options)
  after(() => client.close())
  return JSON.parse((await client.call('who')) as string)
}

/** The message of the error that a connection ends in. */
async function refused(address: string, tls?: object): Promise<string> {
  const error = await failure(connect(address, { ...(tls && { tls }), probe: '2s', timeout: '2s' }))
  expect(error.kind).toBe('connect_failed')
  return error.message
}

test.each(REVISIONS)(
  'a server with a certificate is reached through its authority at %s',
  async (revision) => {
    const address = await listen()
    expect(address).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/)
    expect(await whoAmI(address, { revision, tls: { ca: authority.cert } })).toBeNull()
    expect(
      await whoAmI(address.replace('127.0.0.1', 'localhost'), { tls: { ca: [authority.cert] } }),
    ).toBeNull()
  },
)

test('a server is pinned by its fingerprint, without an authority, in whatever form that is written [S1-6.1-3]', async () => {
  const address = await listen()
  const plain = server.fingerprint.replaceAll(':', '').toLowerCase()
  for (const pin of [server.fingerprint, plain, `sha256 Fingerprint=${server.fingerprint}`, [plain]])
    expect(await whoAmI(address, { tls: { pin } })).toBeNull()
  const both = { pin: plain, ca: authority.cert }
  expect(await whoAmI(address, { tls: both })).toBeNull()
})

test('a server with another certificate than the pinned one is rejected, and so is a pinned one that is not from the given authority [S1-6.1-3]', async () => {
  const address = await listen()
  const message = await refused(address, { pin: stranger.fingerprint })
  expect(message).toContain(`its certificate has the fingerprint ${server.fingerprint}`)
  expect(await refused(address, { pin: server.fingerprint, ca: stranger.cert })).toContain(
    'does not come from a trusted authority',
  )
  expect(await refused(address, { pin: anna.fingerprint, ca: authority.cert })).toContain('tls.pin')
})

test('a certificate from an unknown authority, or for another name, is rejected, and the error says what to do', async () => {
  const address = await listen()
  const untrusted = await refused(address, {})
  expect(untrusted).toMatch(
    /its certificate does not come from a trusted authority .*tls: \{ ca \}.*tls: \{ pin \}/,
  )
  const other = authority.issue('other', ['other.example'])
  const misnamed = await listen(pair(other))
  expect(await refused(misnamed, { ca: authority.cert })).toContain('is for another name; set tls.servername')
  const tls = { ca: authority.cert, servername: 'other.example' }
  expect(await whoAmI(misnamed, { tls })).toBeNull()
})

test('a client with a certificate from the authority is identified by it [S1-6.1-3]', async () => {
  const address = await listen({ ca: authority.cert })
  const tls = { ca: authority.cert, ...pair(anna) }
  expect(await whoAmI(address, { tls })).toEqual({
    sub: 'O=Harbour\nCN=anna',
    iss: 'CN=Harbour authority',
    subject: 'O=Harbour\nCN=anna',
    issuer: 'CN=Harbour authority',
    fingerprint: anna.fingerprint,
    expiresAt: Date.parse(new X509Certificate(anna.cert).validTo) / 1000,
  })
})

test('a client without a certificate, or with one from another authority, is rejected [S1-6.1-3]', async () => {
  const address = await listen({ ca: authority.cert })
  expect(await refused(address, { ca: authority.cert })).toMatch(
    /requires a client certificate; give tls: \{ cert, key \}/,
  )
  const foreign = { ca: authority.cert, ...pair(stranger) }
  expect(await refused(address, foreign)).toContain('it may not accept our certificate')
})

test('a pinned client is accepted by its fingerprint alone, and others are rejected [S1-6.1-3]', async () => {
  const address = await listen({ pin: [stranger.fingerprint] })
  const known = await whoAmI(address, { tls: { ca: authority.cert, ...pair(stranger) } })
  // Without an authority, the name in a certificate is only a claim by its owner.
  expect(known).toMatchObject({ sub: stranger.fingerprint, subject: 'CN=anna' })
  expect(await refused(address, { ca: authority.cert, ...pair(anna) })).toMatch(/closed|dropped/)
  expect(await refused(address, { ca: authority.cert })).toMatch(/closed|dropped|wants a certificate/)
  const both = await listen({ pin: anna.fingerprint, ca: authority.cert })
  const other = authority.issue('berta')
  expect(await whoAmI(both, { tls: { ca: authority.cert, ...pair(anna) } })).toMatchObject({
    fingerprint: anna.fingerprint,
  })
  expect(await refused(both, { ca: authority.cert, ...pair(other) })).toMatch(/closed|dropped/)
})

test('a connection that is resumed still needs the certificate', async () => {
  const address = await listen({ ca: authority.cert, pin: anna.fingerprint })
  const client = await connect(address, { tls: { ca: authority.cert, ...pair(anna) } })
  await client.close()
  for (let count = 0; count < 3; count++)
    expect(await whoAmI(address, { tls: { ca: authority.cert, ...pair(anna) } })).toMatchObject({
      fingerprint: anna.fingerprint,
    })
})

test('plain text to TLS, or TLS to plain TCP, gets an error and does not affect others', async () => {
  const address = await listen()
  const plain = await serve(make())
  const misled = (plain.addresses.tcp as string).replace('tcp:', 'tls:')
  expect(await refused(misled, { ca: authority.cert })).toContain('connect with tcp:// if that is intended')
  expect(await refused(address.replace('tls:', 'tcp:'))).toContain('if it requires TLS')
  expect(await whoAmI(address, { tls: { ca: authority.cert } })).toBeNull()
})

test('a hundred incomplete handshakes do not keep others out', async () => {
  const running = await serve(make(), { tcp: { port: 0, tls: pair(server) } })
  const address = running.addresses.tcp as string
  await Promise.all(Array.from({ length: 100 }, () => dial(address.replace('tls:', 'tcp:'))))
  expect(await whoAmI(address, { tls: { ca: authority.cert } })).toBeNull()
})

test('contradictory options are rejected, and the error says what to do', async () => {
  const listenWith = (tls: object): Promise<unknown> => make().listen({ tcp: { port: 0, tls: tls as never } })
  await expect(listenWith({ key: server.key })).rejects.toThrow('listen tcp tls: cert is missing')
  await expect(listenWith({ ...pair(server), key: anna.key })).rejects.toThrow('cannot be read')
  await expect(listenWith({ ...pair(server), requestCert: true })).rejects.toThrow('requestCert needs ca')
  await expect(listenWith({ ...pair(server), ca: authority.cert, requestCert: false })).rejects.toThrow(
    'remove requestCert: false',
  )
  await expect(listenWith({ ...pair(server), pin: 'abc' })).rejects.toThrow(
    '"abc" is not a SHA-256 fingerprint',
  )
  await expect(listenWith({ ...pair(server), pin: [] })).rejects.toThrow('an empty list')
  await expect(listenWith({ ...pair(server), cart: 'x' })).rejects.toThrow('did you mean "cert"?')
  const address = await listen()
  await expect(connect(address, { tls: { cert: anna.cert } })).rejects.toThrow('give both cert and key')
  await expect(connect(address, { tls: { certt: 'x' } as never })).rejects.toThrow('did you mean "cert"?')
  await expect(connect(address, { tls: { pin: 'x' } })).rejects.toThrow('not a SHA-256 fingerprint')
  await expect(connect(address, { tls: { cert: 'x', key: 'x' } })).rejects.toThrow('readFileSync')
  const torn = '-----BEGIN CERTIFICATE-----'
  await expect(connect(address, { tls: { cert: torn, key: torn } })).rejects.toThrow('cannot be read')
})
