import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, createServer as createTcp, type AddressInfo } from 'node:net'
import { connect as connectTls, createServer as createTls } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/client.ts'
import { certificateThumbprint } from '../../src/transport/tls/thumbprint.ts'
import { selfSigned, type Identity } from '../harness/certificates.ts'
import {
  askResumed,
  authority,
  listenSecure,
  pair,
  post,
  REJECTED,
  SECURE,
  server,
  whoServer,
} from './secure.ts'

const anna = authority.issue('anna')
const berta = authority.issue('berta')
const impostor = selfSigned('anna')
const SERVER = pair(server)

/** When a certificate expires, in milliseconds since 1970. */
const expiryOf = ({ cert }: Identity): number => Date.parse(new X509Certificate(cert).validTo)

test('mutual TLS with certificate pinning: over HTTPS, WebSocket and TCP, only the pinned client certificate is accepted and becomes the caller, and the client accepts only the pinned server [S1-6.1-3]', async () => {
  for (const transport of SECURE) {
    const tls = { ...SERVER, ca: authority.cert, pin: anna.fingerprint }
    const { ask, address } = await listenSecure(transport, tls)
    expect(await ask(anna)).toEqual({
      sub: 'O=Harbour\nCN=anna',
      iss: 'CN=Harbour authority',
      subject: 'O=Harbour\nCN=anna',
      issuer: 'CN=Harbour authority',
      fingerprint: anna.fingerprint,
      expiresAt: expiryOf(anna) / 1000,
    })
    for (const other of [berta, impostor, undefined]) await expect(ask(other)).rejects.toThrow(REJECTED)
    // The client for https:// is the fetch of the platform, which cannot pin.
    if (transport === 'http') continue
    const own = { ...pair(anna), ca: authority.cert }
    const known = await connect(address, { tls: { ...own, pin: server.fingerprint } })
    await known.close()
    await expect(connect(address, { tls: { ...own, pin: berta.fingerprint } })).rejects.toThrow('tls.pin')
  }
})

// Over HTTPS, each request is checked.
test.each(['ws', 'tcp'] as const)(
  'a connection over %s ends when the certificate of its client expires',
  async (transport) => {
    const { address } = await listenSecure(transport, { ...SERVER, ca: authority.cert })
    vi.useFakeTimers({ toFake: ['Date'], now: expiryOf(anna) - 700 })
    onTestFinished(() => void vi.useRealTimers())
    const tls = { ...pair(anna), ca: authority.cert }
    const client = await connect(address, { tls, recovery: false, timeout: '5s' })
    onTestFinished(() => client.close())
    await client.call('who')
    await expect.poll(() => client.state, { timeout: 5000 }).not.toBe('ready')
  },
)

describe.each(SECURE)('client certificates over %s', (transport) => {
  test('a pinned certificate without an authority is its fingerprint, whatever name it claims', async () => {
    const { ask } = await listenSecure(transport, { ...SERVER, pin: impostor.fingerprint })
    const caller = (await ask(impostor)) as Record<string, unknown>
    expect([caller['sub'], caller['iss']]).toEqual([impostor.fingerprint, undefined])
    await expect(ask(anna)).rejects.toThrow(REJECTED)
    await expect(ask()).rejects.toThrow(REJECTED)
  })

  test('a certificate that has expired is rejected, although it is pinned', async () => {
    const { ask } = await listenSecure(transport, { ...SERVER, pin: impostor.fingerprint })
    await ask(impostor)
    vi.useFakeTimers({ toFake: ['Date'], now: expiryOf(impostor) + 1000 })
    onTestFinished(() => void vi.useRealTimers())
    await expect(ask(impostor)).rejects.toThrow(REJECTED)
  })

  test('certificates give the scopes in the options', async () => {
    const { ask } = await listenSecure(transport, {
      ...SERVER,
      ca: authority.cert,
      scopes: ['read', 'write'],
    })
    expect(await ask(anna)).toMatchObject({ scopes: ['read', 'write'] })
  })

  test('or those that a function chooses by the certificate; if it fails, the client is rejected and the operator is told', async () => {
    const lines: string[] = []
    const tls = {
      ...SERVER,
      ca: authority.cert,
      scopes: ({ subject }: { readonly subject: string }) => {
        if (subject.includes('CN=anna')) return ['write']
        return subject.includes('CN=berta') ? ('write' as unknown as string[]) : []
      },
    }
    const { ask } = await listenSecure(
      transport,
      tls,
      whoServer((...line) => void lines.push(line.join(' '))),
    )
    expect(await ask(anna)).toMatchObject({ scopes: ['write'] })
    expect(await ask(authority.issue('carla'))).toMatchObject({ scopes: [] })
    await expect(ask(berta)).rejects.toThrow(REJECTED)
    expect(lines.join('\n')).toContain('the function for scopes failed')
  })
})

test('without scopes for certificates, a tool that needs some is rejected, and the server says so once', async () => {
  const lines: string[] = []
  const log = (...line: readonly unknown[]): void => void lines.push(line.join(' '))
  const url = async (scopes: object): Promise<string> =>
    (await listenSecure('http', { ...SERVER, ca: authority.cert, ...scopes }, whoServer(log))).address
  const options = { ca: authority.cert, ...pair(anna), agent: false } as const
  expect(await post(await url({ scopes: ['write'] }), 'write', options)).toMatchObject({ status: 200 })
  expect(lines).toEqual([])
  expect(await post(await url({}), 'write', options)).toMatchObject({ status: 403 })
  expect(lines.filter((line) => line.includes('needs scopes'))).toHaveLength(1)
})

test.each(SECURE)(
  'over %s, the log says that a client certificate was rejected, and why',
  async (transport) => {
    const lines: string[] = []
    const log = (...line: readonly unknown[]): void => {
      if (line[1] === 'a connection was rejected') lines.push(JSON.stringify(line))
    }
    const { ask } = await listenSecure(transport, { ...SERVER, ca: authority.cert }, whoServer(log))
    await expect(ask(impostor)).rejects.toThrow(REJECTED)
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines[0]).toContain('the client certificate is not valid here (DEPTH_ZERO_SELF_SIGNED_CERT)')
    const pinned = await listenSecure(transport, { ...SERVER, pin: anna.fingerprint }, whoServer(log))
    await expect(pinned.ask(berta)).rejects.toThrow(REJECTED)
    await vi.waitFor(() => expect(lines).toHaveLength(2))
    expect(lines[1]).toContain(`the certificate ${berta.fingerprint} is not pinned`)
  },
)

test('scopes without client certificates are a mistake in the options', async () => {
  const options = { http: { port: 0, tls: { ...SERVER, scopes: ['read'] } } }
  await expect(whoServer().listen(options)).rejects.toThrow('ask for certificates with ca or pin')
})

test('a resumed TLS session of HTTPS has the caller of the first one', async () => {
  const { address } = await listenSecure('http', { ...SERVER, ca: authority.cert })
  const first = await askResumed(address, anna)
  const second = await askResumed(address, anna, first.session)
  expect([first.isResumed, second.isResumed]).toEqual([false, true])
  expect(second.who).toEqual(first.who)
  expect(second.who).toMatchObject({ fingerprint: anna.fingerprint })
})

test('the thumbprint of a connection is the SHA-256 of its client certificate in base64url', async () => {
  const found: (string | undefined)[] = []
  const tls = createTls({ ...SERVER, requestCert: true, rejectUnauthorized: false }, (socket) => {
    found.push(certificateThumbprint(socket))
    socket.end()
  })
  const tcp = createTcp((socket) => {
    found.push(certificateThumbprint(socket))
    socket.end()
  })
  for (const one of [tls, tcp]) {
    one.listen(0, '127.0.0.1')
    await once(one, 'listening')
    onTestFinished(() => void one.close())
  }
  const portOf = (one: typeof tcp): number => (one.address() as AddressInfo).port
  const rest = { host: '127.0.0.1', port: portOf(tls), ca: authority.cert }
  for (const open of [
    () => connectTls({ ...rest, ...pair(anna) }),
    () => connectTls(rest),
    () => connectTcp(portOf(tcp), '127.0.0.1'),
  ])
    await once(open().resume(), 'close')
  const expected = createHash('sha256').update(new X509Certificate(anna.cert).raw).digest('base64url')
  expect(found).toEqual([expected, undefined, undefined])
})
