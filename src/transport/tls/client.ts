import { isIP } from 'node:net'
import { createSecureContext, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { checkOptions } from '../../base/options.ts'
import { checkPem } from './pem.ts'
import { isPinned, readPins } from './pins.ts'
import { CLIENT_TLS_OPTIONS, type ClientTls } from './options.ts'

/** TLS as a client uses it. */
export interface SecureClient {
  readonly settings: ConnectionOptions
  /** Why the server is not the one that is meant, if so: to be asked before anything is sent. */
  problemOf(socket: TLSSocket): string | undefined
}

/** Reads TLS options for a host; throws when they do not fit together. */
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
  // Whoever knows the very certificate needs nobody to vouch for it.
  return { ...settings, rejectUnauthorized: pin === undefined || ca !== undefined }
}

/** The name that the certificate must have; one that is no name but an address cannot be asked for. */
function nameOf(host: string, { servername }: ClientTls): { readonly servername?: string } {
  if (servername !== undefined) return { servername }
  return isIP(host) === 0 ? { servername: host } : {}
}

function checkPin(socket: TLSSocket, pins: ReadonlySet<string>): string | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate !== undefined && isPinned(pins, certificate)) return undefined
  return `its certificate has the fingerprint ${certificate?.fingerprint256 ?? 'none'}, which tls.pin does not name; if the server has a new certificate, pin that`
}
