import type { Server as NetServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { throttle } from '../../base/throttle.ts'

const NO_CERTIFICATE = 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE'

type Report = (level: 'warning', text: string, facts: { readonly why: string; readonly more: number }) => void

/** Tells the operator about connections that are rejected, at most once a second. */
export function createRejectionReport(report: Report): (why: string) => void {
  return throttle((why, more) => report('warning', 'a connection was rejected', { why, more }))
}

/** Why a TLS handshake failed. Node only says that the connection ended if it did not accept the certificate of a client. */
export function whyRejected({ message }: Error, socket: object): string {
  const code: unknown = (socket as Partial<TLSSocket>).authorizationError
  return isCode(code) ? `the client certificate is not valid here (${String(code)})` : message
}

/** Reports handshakes that fail because of the certificate of the client, and no others: scanners cause many. */
export function reportBadCertificates(server: NetServer, report: (why: string) => void): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Partial<TLSSocket>) => {
    if (isCode(socket.authorizationError) || error.code === NO_CERTIFICATE) report(whyRejected(error, socket))
  })
}

function isCode(value: unknown): boolean {
  return value !== undefined && value !== null
}
