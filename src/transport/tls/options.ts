import {
  callable,
  either,
  FLAG,
  listOf,
  object,
  required,
  TEXT,
  type Kind,
  type KindsOf,
} from '../../base/kinds.ts'
import { SCOPE } from '../../rpc/scopes.ts'

/** Text or bytes in PEM form. */
export type Pem = string | Uint8Array

/** How a server identifies itself, and which client certificates it requires. */
export interface TlsOptions {
  /** The private key of the certificate. */
  readonly key: Pem
  /** The certificate of the server, followed by those that link it to an authority. */
  readonly cert: Pem
  /** Authorities that client certificates must come from; makes client certificates required. Default: none. */
  readonly ca?: Pem | readonly Pem[] | undefined
  /** Whether clients need a certificate. Default: `true` if `ca` or `pin` is given. */
  readonly requestCert?: boolean | undefined
  /** SHA-256 fingerprints of the only client certificates that are accepted. Default: any that `ca` allows. */
  readonly pin?: string | readonly string[] | undefined
  /**
   * The scopes of clients with a certificate, or a function that decides by the certificate. Default: none.
   *
   * @example
   * tls: { key, cert, ca, scopes: ({ subject }) => (subject.split('\n').includes('CN=backup') ? ['read'] : []) }
   */
  readonly scopes?: readonly string[] | ((caller: CertificateCaller) => readonly string[]) | undefined
}

/**
 * Reads the certificates of a server. It is called when the server begins to listen, then every minute and by `running.reloadTls`.
 * New connections get the new certificates.
 *
 * @example
 * tls: () => ({ key: readFileSync('key.pem'), cert: readFileSync('cert.pem') })
 */
export type TlsSource = () => TlsOptions | Promise<TlsOptions>

/** A client, as its certificate identifies it. */
export interface CertificateCaller {
  /**
   * The subject if an authority (`ca`) signed the certificate, otherwise the fingerprint. If the subject is empty, all alternative names
   * such as `URI:spiffe://example.com/anna`, separated by commas and spaces; if there are none that can be read, the fingerprint.
   */
  readonly sub: string
  /** The subject of the certificate, with a line for each part, such as `CN=anna`; may be empty. */
  readonly subject: string
  /** The issuer of the certificate, in the same form. */
  readonly issuer: string
  /** The SHA-256 fingerprint of the certificate. */
  readonly fingerprint: string
  /**
   * When the certificate expires, in seconds since 1970. Streams and connections end then, even if a token is still good, and
   * further requests are rejected.
   */
  readonly expiresAt: number
}

/** Which servers a client trusts, and how it identifies itself. */
export interface ClientTls {
  /** Authorities to trust instead of those of Node. Default: those of Node. */
  readonly ca?: Pem | readonly Pem[] | undefined
  /** The client's own certificate, for servers that ask for one; needs `key`. Default: none. */
  readonly cert?: Pem | undefined
  /** The private key of `cert`. Default: none. */
  readonly key?: Pem | undefined
  /** SHA-256 fingerprints of the only server certificates that are accepted; without `ca`, they need no authority. Default: any. */
  readonly pin?: string | readonly string[] | undefined
  /** The name in the server's certificate, if it differs from the host in the URL. Default: the host. */
  readonly servername?: string | undefined
}

const PEM: Kind<Pem> = {
  must: 'PEM text, e.g. readFileSync("cert.pem")',
  is: (value) => typeof value === 'string' || value instanceof Uint8Array,
}
const PEMS: Kind<Pem | readonly Pem[]> = either(PEM, listOf(PEM))
const PINS: Kind<string | readonly string[]> = either(TEXT, listOf(TEXT))

export const TLS_OPTIONS: KindsOf<TlsOptions> = {
  key: required(PEM),
  cert: required(PEM),
  ca: PEMS,
  requestCert: FLAG,
  pin: PINS,
  scopes: either(listOf(SCOPE), callable<(caller: CertificateCaller) => readonly string[]>()),
}

/** The kind of the option `tls` of listeners. */
export const TLS: Kind<TlsOptions | TlsSource> = either(
  object<TlsOptions>('an object: { key, cert }'),
  callable<TlsSource>('a function that returns it'),
)

export const CLIENT_TLS_OPTIONS: KindsOf<ClientTls> = {
  ca: PEMS,
  cert: PEM,
  key: PEM,
  pin: PINS,
  servername: TEXT,
}
