import { either, FLAG, listOf, required, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'

/** Text or bytes in PEM form. */
export type Pem = string | Uint8Array

/** How a server identifies itself, and which client certificates it requires. */
export interface TlsOptions {
  readonly key: Pem
  readonly cert: Pem
  /** Authorities that client certificates must come from; makes client certificates required. */
  readonly ca?: Pem | readonly Pem[] | undefined
  /** Whether clients need a certificate. Defaults to true when `ca` or `pin` is given. */
  readonly requestCert?: boolean | undefined
  /** SHA-256 fingerprints of the only client certificates that are accepted. */
  readonly pin?: string | readonly string[] | undefined
}

/** Which servers a client trusts, and how it identifies itself. */
export interface ClientTls {
  /** Authorities to trust instead of the default ones. */
  readonly ca?: Pem | readonly Pem[] | undefined
  /** Our own certificate, for servers that ask for one. */
  readonly cert?: Pem | undefined
  readonly key?: Pem | undefined
  /** SHA-256 fingerprints of the only server certificates that are accepted. */
  readonly pin?: string | readonly string[] | undefined
  /** The name in the server's certificate, if it differs from the host in the URL. */
  readonly servername?: string | undefined
}

const BYTES: Kind<Uint8Array> = { must: 'bytes', is: (value) => value instanceof Uint8Array }
const PEM: Kind<Pem> = { ...either(TEXT, BYTES), must: 'PEM text, e.g. readFileSync("cert.pem")' }
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
