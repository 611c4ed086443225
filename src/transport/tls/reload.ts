import type { TLSSocket, TlsOptions as TlsSettings } from 'node:tls'
import { badOption, checkOptions } from '../../base/options.ts'
import { TLS_OPTIONS, type TlsOptions, type TlsSource } from './options.ts'
import { readCertificates, type Certificates, type TlsCaller } from './server.ts'

/** The TLS settings of one listener, which may change while it is open. */
export interface ServerTls {
  /** The settings to create the listener with. */
  readonly settings: TlsSettings
  /** Whether clients need a certificate. */
  readonly asksClients: boolean
  /** Whether clients get scopes for their certificate. */
  readonly givesScopes: boolean
  /** Identifies a client by its certificate, if one is required; or says why it is rejected. */
  callerOf(socket: TLSSocket): TlsCaller
  /** Gives a listener the new certificates while it is open; to be called before it listens. */
  attach(listener: TlsListener): void
  /** Reads the certificates again. Rejects if they cannot be used; the old ones then stay. */
  reload(): Promise<void>
}

/** A listener as far as its certificates matter. */
export interface TlsListener {
  setSecureContext(settings: TlsSettings): void
  once(event: 'listening' | 'close', listener: () => void): unknown
}

export interface ServerTlsOptions {
  /** The name of the option, for messages. */
  readonly where: string
  /** Tells the operator that new certificates cannot be used, or that a function for scopes failed. */
  report(message: string, error: unknown): void
  /** How often the certificates are read again. */
  readonly everyMs?: number
}

/** Servers get new certificates long before the old ones expire, so this is often enough. */
const RELOAD_MS = 60_000

/** Reads the TLS options of a listener; a function is called again and again, so that certificates can be renewed. */
export async function serverTls(
  given: TlsOptions | TlsSource,
  { where, report, everyMs = RELOAD_MS }: ServerTlsOptions,
): Promise<ServerTls> {
  let options = await read()
  let current: Certificates = readCertificates(where, options, report)
  let listener: TlsListener | undefined
  /** The number of the latest attempt to read, and of the one whose certificates are used. */
  let latest = 0
  let used = 0
  let reported: string | undefined
  const { settings, asksClients, givesScopes } = current
  return {
    settings,
    asksClients,
    givesScopes,
    callerOf: (socket) => current.callerOf(socket),
    attach,
    reload,
  }

  async function read(): Promise<TlsOptions> {
    const found = typeof given === 'function' ? await given() : given
    checkOptions(where, found, TLS_OPTIONS)
    return found
  }

  function attach(opened: TlsListener): void {
    listener = opened
    if (typeof given !== 'function') return
    let timer: ReturnType<typeof setInterval> | undefined
    opened.once('listening', () => (timer = setInterval(() => void reloadQuietly(), everyMs).unref()))
    opened.once('close', () => {
      clearInterval(timer)
      listener = undefined
    })
  }

  async function reload(): Promise<void> {
    if (typeof given !== 'function') {
      const reason =
        "the certificates are fixed; give a function to renew them: tls: () => ({ key: readFileSync('key.pem'), cert: readFileSync('cert.pem') })"
      throw badOption(where, reason)
    }
    const number = ++latest
    const found = await read()
    // A later attempt may have been faster.
    if (number < used) return
    const next = readCertificates(where, found, report)
    checkSameKind(current, next)
    // A new context ends the resumption of TLS sessions.
    if (pemsOf(found) !== pemsOf(options)) listener?.setSecureContext(next.settings)
    options = found
    current = next
    used = number
  }

  /** Reports an error once, not every time it recurs. */
  async function reloadQuietly(): Promise<void> {
    try {
      await reload()
      reported = undefined
    } catch (error) {
      const text = String(error)
      if (text !== reported) report('the new certificates cannot be used; the old ones stay', error)
      reported = text
    }
  }

  /** Node decides when the listener is created whether it asks for certificates. */
  function checkSameKind(before: Certificates, after: Certificates): void {
    const isSameKind =
      before.asksClients === after.asksClients &&
      before.settings.rejectUnauthorized === after.settings.rejectUnauthorized
    if (isSameKind) return
    const reason =
      'ca and requestCert cannot be added or removed while the server listens, only changed; restart it'
    throw badOption(where, reason)
  }
}

/** The key and the certificates in a form that can be compared. */
function pemsOf({ key, cert, ca = [] }: TlsOptions): string {
  return JSON.stringify([key, cert, ca].flat().map((pem) => Buffer.from(pem).toString('base64')))
}
