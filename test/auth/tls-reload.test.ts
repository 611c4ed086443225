import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'node:https'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { TlsOptions } from '../../src/index.ts'
import { serverTls } from '../../src/transport/tls/reload.ts'
import { createAuthority, type Identity } from '../harness/certificates.ts'
import {
  askHttps,
  askResumed,
  authority,
  listenSecure,
  pair,
  REJECTED,
  SECURE,
  server,
  whoServer,
} from './secure.ts'

const renewed = authority.issue('renewed', ['127.0.0.1'])
const anna = authority.issue('anna')
const berta = authority.issue('berta')

/** The fingerprint of the certificate that new connections get. */
function presented(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address.replace(/^\w+:/, 'http:'))
    const socket = connectTls({ host: hostname, port: Number(port), ca: authority.cert }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? 'none')
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

/** A folder with the files of a certificate. */
function files(first: Identity): { write(next: Partial<Identity>): void; read(): TlsOptions } {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (next: Partial<Identity>): void => {
    if (next.key !== undefined) writeFileSync(join(folder, 'key.pem'), next.key)
    if (next.cert !== undefined) writeFileSync(join(folder, 'cert.pem'), next.cert)
  }
  write(first)
  const read = (): TlsOptions => ({
    key: readFileSync(join(folder, 'key.pem')),
    cert: readFileSync(join(folder, 'cert.pem')),
  })
  return { write, read }
}

describe.each(SECURE)('certificates over %s', (transport) => {
  test('are renewed without a restart, and open connections go on', async () => {
    const { read, write } = files(server)
    const { address, running, ask } = await listenSecure(transport, read)
    expect(await presented(address)).toBe(server.fingerprint)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const client =
      transport === 'http'
        ? undefined
        : await connect(address, { tls: { ca: authority.cert }, recovery: false })
    onTestFinished(() => client?.close())
    const askAgain = (): Promise<unknown> =>
      client?.call('who') ?? askHttps(address, { agent, ca: authority.cert }).then(String)
    expect(await askAgain()).toBe('null')
    write(renewed)
    await running.reloadTls()
    expect(await presented(address)).toBe(renewed.fingerprint)
    expect(await ask()).toBeNull()
    expect(await askAgain()).toBe('null')
    expect(client?.state ?? 'ready').toBe('ready')
  })

  test('that are broken are rejected, and the old ones stay', async () => {
    const { read, write } = files(server)
    const { address, running } = await listenSecure(transport, read)
    write({ cert: renewed.cert })
    await expect(running.reloadTls()).rejects.toThrow('the key or a certificate cannot be read')
    expect(await presented(address)).toBe(server.fingerprint)
    write({ cert: '' })
    await expect(running.reloadTls()).rejects.toThrow('PEM')
    expect(await presented(address)).toBe(server.fingerprint)
    write(renewed)
    await running.reloadTls()
    expect(await presented(address)).toBe(renewed.fingerprint)
  })

  test('of clients are checked against the new authorities and pins', async () => {
    const other = createAuthority('Other authority')
    const carla = other.issue('carla')
    let tls: TlsOptions = { ...pair(server), ca: authority.cert, pin: [anna.fingerprint, carla.fingerprint] }
    const { running, ask } = await listenSecure(transport, () => tls)
    expect(await ask(anna)).toMatchObject({ fingerprint: anna.fingerprint })
    await expect(ask(carla)).rejects.toThrow(REJECTED)
    tls = { ...tls, ca: other.cert }
    await running.reloadTls()
    expect(await ask(carla)).toMatchObject({ fingerprint: carla.fingerprint })
    await expect(ask(anna)).rejects.toThrow(REJECTED)
    tls = { ...tls, pin: berta.fingerprint }
    await running.reloadTls()
    await expect(ask(carla)).rejects.toThrow(REJECTED)
  })
})

test('a TLS session from before does not let in a client whose authority was removed', async () => {
  let tls: TlsOptions = { ...pair(server), ca: authority.cert }
  const { address, running } = await listenSecure('http', () => tls)
  const { session } = await askResumed(address, anna)
  expect(await askResumed(address, anna, session)).toMatchObject({ isResumed: true })
  tls = { ...tls, ca: createAuthority('Other authority').cert }
  await running.reloadTls()
  await expect(askResumed(address, anna, session)).rejects.toThrow(REJECTED)
})

test('TLS sessions go on if the certificates are the same', async () => {
  const { address, running } = await listenSecure('http', () => ({ ...pair(server), ca: [authority.cert] }))
  const { session } = await askResumed(address, anna)
  await running.reloadTls()
  expect(await askResumed(address, anna, session)).toMatchObject({ isResumed: true })
})

test('a pin that is removed ends the use of open HTTPS connections, too', async () => {
  let tls: TlsOptions = { ...pair(server), ca: authority.cert, pin: [anna.fingerprint, berta.fingerprint] }
  const { address, running } = await listenSecure('http', () => tls)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const sockets = new Set<TLSSocket>()
  agent.on('keylog', (_, socket: TLSSocket) => sockets.add(socket))
  const options = { agent, ca: authority.cert, ...pair(anna) }
  expect(await askHttps(address, options)).toMatchObject({ fingerprint: anna.fingerprint })
  tls = { ...tls, pin: berta.fingerprint }
  await running.reloadTls()
  await expect(askHttps(address, options)).rejects.toThrow('403')
  expect(sockets.size).toBe(1)
})

test('WebSocket on the port of HTTPS has its certificates', async () => {
  let tls: TlsOptions = pair(server)
  const running = await whoServer().listen({ http: { port: 0, tls: async () => tls }, ws: true })
  onTestFinished(() => running.close())
  tls = pair(renewed)
  await running.reloadTls()
  expect(await presented(running.addresses.ws as string)).toBe(renewed.fingerprint)
})

test('what cannot change while a server listens is an error that says so', async () => {
  let tls: TlsOptions = pair(server)
  const { running } = await listenSecure('tcp', () => tls)
  tls = { ...pair(renewed), ca: authority.cert }
  await expect(running.reloadTls()).rejects.toThrow('restart it')
  const fixed = await listenSecure('tcp', pair(server))
  await expect(fixed.running.reloadTls()).rejects.toThrow('give a function to renew them: tls: () =>')
  const plain = await whoServer().listen({ tcp: { port: 0 } })
  onTestFinished(() => plain.close())
  await expect(plain.reloadTls()).rejects.toThrow('none of these transports uses TLS')
})

test('what a function gives is checked like other options, and its own error ends listen', async () => {
  const listen = (tls: () => unknown): Promise<unknown> =>
    whoServer().listen({ tcp: { port: 0, tls: tls as () => TlsOptions } })
  await expect(listen(() => undefined)).rejects.toThrow('listen tcp tls: expected an object')
  await expect(listen(() => ({ key: server.key }))).rejects.toThrow('listen tcp tls: cert is missing')
  await expect(listen(() => readFileSync('/nonexistent.pem'))).rejects.toThrow('ENOENT')
  await expect(listen(() => Promise.reject(new Error('the vault is closed')))).rejects.toThrow('vault')
})

test('certificates are read again in intervals while a server listens, and an error is reported once', async () => {
  const told: string[] = []
  const used: unknown[] = []
  let tls: TlsOptions = pair(server)
  let reads = 0
  const read = (): TlsOptions => {
    reads++
    return tls
  }
  const secure = await serverTls(read, {
    where: 'listen tls',
    everyMs: 1,
    report: (message, error) => void told.push(`${message}: ${(error as Error).message}`),
  })
  const events = new Map<string, () => void>()
  secure.attach({
    setSecureContext: ({ cert }) => void used.push(cert),
    once: (event, listener) => void events.set(event, listener),
  })
  expect(reads).toBe(1)
  events.get('listening')?.()
  await expect.poll(() => reads).toBeGreaterThan(3)
  expect(used).toEqual([])
  tls = { ...pair(server), cert: renewed.cert }
  const before = reads
  await expect.poll(() => reads).toBeGreaterThan(before + 3)
  expect(told).toEqual([expect.stringContaining('the old ones stay: listen tls: the key or a certificate')])
  tls = pair(renewed)
  await expect.poll(() => used).toEqual([renewed.cert])
  events.get('close')?.()
  const last = reads
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(reads).toBeLessThanOrEqual(last + 1)
})

test('of two attempts, the later one counts, even if the earlier one takes longer', async () => {
  const answers: ((tls: TlsOptions) => void)[] = []
  const secure = await serverTls(
    () =>
      answers.length < 1
        ? (answers.push(() => undefined), pair(server))
        : new Promise((resolve) => answers.push(resolve)),
    { where: 'listen tls', report: () => undefined },
  )
  const used: unknown[] = []
  secure.attach({ setSecureContext: ({ cert }) => void used.push(cert), once: () => undefined })
  const both = [secure.reload(), secure.reload()]
  answers[2]?.(pair(renewed))
  await both[1]
  answers[1]?.(pair(authority.issue('older', ['127.0.0.1'])))
  await both[0]
  expect(used).toEqual([renewed.cert])
})
