import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned, type Identity } from './certificates.ts'

let identity: Identity | undefined
let sockets = 0

/** A key and a certificate for servers on this machine, created when first needed. */
export function testIdentity(): Identity {
  identity ??= selfSigned('localhost', ['localhost', '127.0.0.1'])
  return identity
}

/** A unique path for a socket file. */
export function testSocket(): string {
  return join(
    tmpdir(),
    `pierhead-${process.pid}-${process.env['VITEST_WORKER_ID'] ?? 0}-${++sockets}-${Date.now()}.sock`,
  )
}

/** The TLS options of a server with the test identity. */
export function testTls(): { readonly key: string; readonly cert: string } {
  const { key, cert } = testIdentity()
  return { key, cert }
}
