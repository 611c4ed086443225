import type { X509Certificate } from 'node:crypto'
import { createSecureContext, type TLSSocket, type TlsOptions as TlsSettings } from 'node:tls'
import { listOf } from '../../base/kinds.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import type { Auth } from '../../rpc/call.ts'
import { SCOPE } from '../../rpc/scopes.ts'
import { checkPem } from './pem.ts'
import { isPinned, readPins } from './pins.ts'
import type { CertificateCaller, TlsOptions } from './options.ts'

const SCOPES = listOf(SCOPE)

/** A caller that a certificate identifies, if one is required; or why it is rejected. */
export type TlsCaller = { readonly auth: Auth | undefined } | { readonly problem: string }

/** The certificates of a listener, and the client certificates that it accepts. */
export interface Certificates {
  readonly settings: TlsSettings
  /** Whether clients need a certificate. */
  readonly asksClients: boolean
  /** Whether clients get scopes for their certificate. */
  readonly givesScopes: boolean
  callerOf(socket: TLSSocket): TlsCaller
}

/** Reads TLS options; throws when they contradict each other. `report` tells the operator that `scopes` failed. */
export function readCertificates(
  where: string,
  options: TlsOptions,
  report: (message: string, error: unknown) => void,
): Certificates {
  const { key, cert, ca, pin, scopes } = options
  const bad = (reason: string): Error => mcpError(BAD_OPTION, { where, reason })
  checkPem(where, key, cert, ca)
  const pins = readPins(`${where} pin`, pin)
  const asksClients = options.requestCert ?? (ca !== undefined || pins !== undefined)
  if (asksClients && ca === undefined && pins === undefined)
    throw bad('requestCert needs ca (the authorities of client certificates) or pin (their fingerprints)')
  if (!asksClients && (ca !== undefined || pins !== undefined))
    throw bad('ca and pin say which client certificates are accepted; remove requestCert: false')
  if (!asksClients && scopes !== undefined)
    throw bad('scopes are those of clients with a certificate; ask for certificates with ca or pin')
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
  return { settings, asksClients, givesScopes: scopes !== undefined, callerOf }

  function callerOf(socket: TLSSocket): TlsCaller {
    if (!asksClients) return { auth: undefined }
    const certificate = socket.getPeerX509Certificate()
    if (certificate === undefined) return { problem: 'no certificate' }
    if (pins !== undefined && !isPinned(pins, certificate))
      return { problem: `the certificate ${certificate.fingerprint256} is not pinned` }
    // TLS checks this only for certificates of an authority, and only when a connection opens.
    if (Date.now() >= Date.parse(certificate.validTo))
      return { problem: `the certificate ${certificate.fingerprint256} has expired` }
    const caller = identify(certificate, ca !== undefined)
    try {
      return { auth: scopes === undefined ? caller : { ...caller, scopes: scopesOf(caller) } }
    } catch (error) {
      report(`${where}: the function for scopes failed, so a client was rejected`, error)
      return { problem: 'the server could not determine its scopes' }
    }
  }

  function scopesOf(caller: CertificateCaller): readonly string[] {
    const found: unknown = typeof scopes === 'function' ? scopes(caller) : scopes
    if (SCOPES.is(found)) return found as readonly string[]
    throw new TypeError(`it must return ${SCOPES.must}`)
  }
}

/** The owner of a certificate. Its names are trustworthy only if an authority signed them. */
function identify(certificate: X509Certificate, vouched: boolean): CertificateCaller & Auth {
  const { fingerprint256, validTo } = certificate
  // Node leaves out names that are empty.
  const { subject = '', issuer = '' } = certificate as Partial<X509Certificate>
  return {
    sub: vouched ? subject || (alternativesOf(certificate) ?? fingerprint256) : fingerprint256,
    ...(vouched ? { iss: issuer } : {}),
    subject,
    issuer,
    fingerprint: fingerprint256,
    expiresAt: Date.parse(validTo) / 1000,
  }
}

/**
 * All alternative names of a certificate, since others may have some of them too. None if Node cannot read one: it writes the same for
 * all that it cannot read.
 */
function alternativesOf({ subjectAltName }: X509Certificate): string | undefined {
  return subjectAltName === undefined || subjectAltName === '' || subjectAltName.includes('<unsupported>')
    ? undefined
    : subjectAltName
}
