import { isIP } from 'node:net'
import { createSecureContext, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { checkOptions } from '../../base/options.ts'
import { checkPem } from './pem.ts'
import { isPinned, readPins } from './pins.ts'
import { CLIENT_TLS_OPTIONS, type ClientTls } from './options.ts'

/** TLS settings of a client. */
export interface SecureClient {
  readonly settings: ConnectionOptions
  /** Why the server is not trusted, if it is not. Must be called before anything is sent. */
  problemOf(socket: TLSSocket): string | undefined
}

/** Reads TLS options for a host; throws when they contradict each other. */
export function clientTls(host: string, tls: ClientTls): SecureClient {
  checkOptions('connect tls', tls, CLIENT_TLS_OPTIONS)
  const pins = readPins('connect tls.pin', tls.pin)
  return {
    settings: { ...settingsOf(tls), ...nameOf(host, tls) },
    problemOf: (socket) => (pins === undefined ? undefined : checkPin(socket, pins)),
  }
}

function settingsOf({ ca, cert, key, pin }: ClientTls): ConnectionOptions {
  if ((cert === undefined) !== (key === undefined))
    throw mcpError(BAD_OPTION, { where: 'connect tls', reason: 'give both cert and key, or neither' })
  checkPem('connect tls', ca, cert, key)
  const settings = {
    ...(ca === undefined ? {} : { ca: ca as string[] }),
    ...(cert === undefined ? {} : { cert: cert as string, key: key as string }),
  }
  try {
    createSecureContext(settings)
  } catch (cause) {
    const reason = `the key or a certificate cannot be read: ${(cause as Error).message}`
    throw mcpError(BAD_OPTION, { where: 'connect tls', reason }, { cause })
  }
  // A pinned certificate does not need an authority.
  return { ...settings, rejectUnauthorized: pin === undefined || ca !== undefined }
}

/** The name to request with SNI, which does not allow IP addresses. */
function nameOf(host: string, { servername }: ClientTls): { readonly servername?: string } {
  if (servername !== undefined) return { servername }
  return isIP(host) === 0 ? { servername: host } : {}
}

function checkPin(socket: TLSSocket, pins: ReadonlySet<string>): string | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate !== undefined && isPinned(pins, certificate)) return undefined
  return `its certificate has the fingerprint ${certificate?.fingerprint256 ?? 'none'}, which is not in tls.pin; if the server has a new certificate, pin that one`
}
