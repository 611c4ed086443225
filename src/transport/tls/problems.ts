/** What can be done about an error of the system or of TLS, by its code. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nobody listens there; start the server, or correct the address'],
  ['ECONNRESET', 'the server dropped the connection'],
  ['EPIPE', 'the server dropped the connection'],
  ['ENOENT', 'the socket file does not exist; start the server, or correct the path'],
  ['ENOTSOCK', 'the file is no socket; correct the path'],
  ['EACCES', 'the socket may not be used by this user; change its permissions, or the user'],
  ['EPERM', 'the socket may not be used by this user; change its permissions, or the user'],
  ['ENOTFOUND', 'no machine of this name is known; correct the host'],
  ['EAI_AGAIN', 'the name cannot be looked up at present; check the network'],
  ['EHOSTUNREACH', 'the machine cannot be reached; check the network'],
  ['ENETUNREACH', 'the machine cannot be reached; check the network'],
  ['ETIMEDOUT', 'nothing came back; a firewall may stand between'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired; the server needs a new one'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet; check the clocks'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'its certificate is for another name; set tls.servername to that name if it is right',
  ],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS; connect with tcp:// if that is meant'],
  ['EPROTO', 'it does not speak TLS; connect with tcp:// if that is meant'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it wants a certificate; give tls: { cert, key }'],
  [
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'it does not trust our certificate; give one of an authority that it knows',
  ],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it does not accept our certificate'],
])
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Why a socket failed, and what to do. */
export function explain({ code = '', message }: NodeJS.ErrnoException, url: URL): string {
  if (UNKNOWN_AUTHORITY.has(code)) {
    return `nobody whom we trust vouches for its certificate (${message}); name its authority with tls: { ca }, or the certificate itself with tls: { pin }`
  }
  const remedy = REMEDIES.get(code)
  if (remedy === undefined) return message
  return code === 'ENOENT' && url.protocol !== 'unix:' ? message : `${remedy} (${code})`
}

/** A URL as messages name it. */
export function targetOf(url: URL): string {
  return url.host === '' ? `${url.protocol}${url.pathname}` : `${url.protocol}//${url.host}`
}
