import { either, FLAG, listOf, required, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'

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
}

export const CLIENT_TLS_OPTIONS: KindsOf<ClientTls> = {
  ca: PEMS,
  cert: PEM,
  key: PEM,
  pin: PINS,
  servername: TEXT,
}
