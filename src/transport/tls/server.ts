import type { X509Certificate } from 'node:crypto'
import { createSecureContext, type TLSSocket, type TlsOptions as TlsSettings } from 'node:tls'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { Auth } from '../../rpc/call.ts'
import { checkPem } from './pem.ts'
import { isPinned, readPins } from './pins.ts'
import type { TlsOptions } from './options.ts'

/** TLS settings of a listener. */
export interface ServerTls {
  readonly settings: TlsSettings
  /** Whether clients need a certificate. */
  readonly asksClients: boolean
  /** Identifies a client by its certificate, if one is required; or says why it is rejected. */
  callerOf(socket: TLSSocket): { readonly auth: Auth | undefined } | { readonly problem: string }
}

/** Reads TLS options; throws when they contradict each other. */
export function serverTls(where: string, options: TlsOptions): ServerTls {
  const { key, cert, ca, pin } = options
  const bad = (reason: string): Error => mcpError(BAD_OPTION, { where, reason })
  checkPem(where, key, cert, ca)
  const pins = readPins(`${where} pin`, pin)
  const asksClients = options.requestCert ?? (ca !== undefined || pins !== undefined)
  if (asksClients && ca === undefined && pins === undefined)
    throw bad('requestCert needs ca (the authorities of client certificates) or pin (their fingerprints)')
  if (!asksClients && (ca !== undefined || pins !== undefined))
    throw bad('ca and pin say which client certificates are accepted; remove requestCert: false')
  const settings = {
    key: key as string,
    cert: cert as string,
    ...(ca === undefined ? {} : { ca: ca as string[] }),
    requestCert: asksClients,
    // Without authorities, the fingerprint decides.
    rejectUnauthorized: ca !== undefined,
  }
  try {
    createSecureContext(settings)
  } catch (cause) {
    const reason = `the key or a certificate cannot be read: ${(cause as Error).message}`
    throw mcpError(BAD_OPTION, { where, reason }, { cause })
  }
  return { settings, asksClients, callerOf }

  function callerOf(socket: TLSSocket): ReturnType<ServerTls['callerOf']> {
    if (!asksClients) return { auth: undefined }
    const certificate = socket.getPeerX509Certificate()
    if (certificate === undefined) return { problem: 'no certificate' }
    if (pins !== undefined && !isPinned(pins, certificate))
      return { problem: `the certificate ${certificate.fingerprint256} is not pinned` }
    return { auth: authOf(certificate, ca !== undefined) }
  }
}

/** The owner of a certificate. The subject is trustworthy only if an authority signed it. */
function authOf({ subject, issuer, fingerprint256 }: X509Certificate, vouched: boolean): Auth {
  return {
    sub: vouched ? subject : fingerprint256,
    ...(vouched ? { iss: issuer } : {}),
    subject,
    issuer,
    fingerprint: fingerprint256,
  }
}
