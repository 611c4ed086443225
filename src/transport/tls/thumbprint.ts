import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * The SHA-256 thumbprint of the client certificate of a connection in base64url, as tokens name it (RFC 8705); undefined
 * if it has none. Frameworks may pass requests without a real socket.
 */
export function certificateThumbprint(socket: Socket | undefined): string | undefined {
  const fingerprint = (socket as Partial<TLSSocket> | undefined)?.getPeerX509Certificate?.()?.fingerprint256
  if (fingerprint === undefined) return undefined
  return Buffer.from(fingerprint.replaceAll(':', ''), 'hex').toString('base64url')
}
