import { either, FLAG, listOf, required, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'

/** Text or bytes in PEM form. */
export type Pem = string | Uint8Array

/** How a server proves who it is, and what it asks of those who connect. */
export interface TlsOptions {
  readonly key: Pem
  readonly cert: Pem
  /** Authorities whose certificates clients may have; then a client needs one. */
  readonly ca?: Pem | readonly Pem[]
  /** Whether a client needs a certificate; it does when `ca` or `pin` is given. */
  readonly requestCert?: boolean
  /** SHA-256 fingerprints of the client certificates that may connect, and no others. */
  readonly pin?: string | readonly string[]
}

/** Whom a client trusts, and how it proves who it is. */
export interface ClientTls {
  /** Authorities to trust instead of the usual ones. */
  readonly ca?: Pem | readonly Pem[]
  /** Our own certificate, for servers that ask for one. */
  readonly cert?: Pem
  readonly key?: Pem
  /** SHA-256 fingerprints of the certificates that the server may have, and no others. */
  readonly pin?: string | readonly string[]
  /** The name that the certificate of the server has, where it is not that of the URL. */
  readonly servername?: string
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
