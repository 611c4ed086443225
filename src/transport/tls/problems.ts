import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** The remedies for system and TLS errors, by code. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; start the server, or correct the address'],
  ['ECONNRESET', 'the server aborted the connection'],
  ['EPIPE', 'the server aborted the connection'],
  ['ENOENT', 'the socket file does not exist; start the server, or correct the path'],
  ['ENOTSOCK', 'the file is not a socket; correct the path'],
  ['EACCES', 'this user may not use the socket; change its permissions, or the user'],
  ['EPERM', 'this user may not use the socket; change its permissions, or the user'],
  ['ENOTFOUND', 'the host name does not exist; correct the host'],
  ['EAI_AGAIN', 'the host name cannot be resolved at the moment; check the network'],
  ['EHOSTUNREACH', 'the host cannot be reached; check the network'],
  ['ENETUNREACH', 'the host cannot be reached; check the network'],
  ['ETIMEDOUT', 'the host did not respond; a firewall may be in the way'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired; the server needs a new one'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet; check the clocks'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'its certificate is for another name; set tls.servername if that name is correct',
  ],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not use TLS; connect with tcp:// if that is intended'],
  ['EPROTO', 'it does not use TLS; connect with tcp:// if that is intended'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it requires a client certificate; give tls: { cert, key }'],
  [
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'it does not trust our certificate; give one from an authority that it trusts',
  ],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it does not accept our certificate'],
])
/** The schemes without TLS. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['https:', 'http:'],
  ['wss:', 'ws:'],
])
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Explains why a socket failed, and what to do. */
export function explain({ code = '', message }: NodeJS.ErrnoException, url: URL): string {
  if (UNKNOWN_AUTHORITY.has(code)) {
    return `its certificate does not come from a trusted authority (${message}); name its authority with tls: { ca }, or the certificate itself with tls: { pin }`
  }
  const remedy = REMEDIES.get(code)?.replace('tcp:', PLAIN.get(url.protocol) ?? 'tcp:')
  if (remedy === undefined) return message
  return code === 'ENOENT' && url.protocol !== 'unix:' ? message : `${remedy} (${code})`
}

/** Rejects a URL with a fragment, which no socket has a use for. */
export function checkFragment({ hash }: URL): void {
  if (hash === '') return
  const reason = 'the URL has a fragment; remove the part from # on, or write %23 for a # in a path'
  throw mcpError(BAD_OPTION, { where: 'connect', reason })
}

/** Names a URL in messages, without its credentials. */
export function targetOf(url: URL): string {
  return url.host === '' ? `${url.protocol}${url.pathname}` : `${url.protocol}//${url.host}`
}
