import { expect, test } from 'vitest'
import { explain, targetOf } from './problems.ts'

const TLS = new URL('tls://example.com:7000')
const UNIX = new URL('unix:/run/server.sock')

function explained(code: string, url: URL = TLS): string {
  return explain(Object.assign(new Error('as the system says it'), { code }), url)
}

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])('a certificate of an unknown authority is explained by the options that name it: %s', (code) => {
  expect(explained(code)).toMatch(/as the system says it.*tls: \{ ca \}.*tls: \{ pin \}/)
})

/** A word of the remedy for each code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the server',
  ECONNRESET: 'aborted',
  EPIPE: 'aborted',
  ENOTSOCK: 'correct the path',
  EACCES: 'permissions',
  EPERM: 'permissions',
  ENOTFOUND: 'correct the host',
  EAI_AGAIN: 'check the network',
  EHOSTUNREACH: 'check the network',
  ENETUNREACH: 'check the network',
  ETIMEDOUT: 'firewall',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls.servername',
  ERR_SSL_WRONG_VERSION_NUMBER: 'tcp://',
  EPROTO: 'tcp://',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'tls: { cert, key }',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'does not accept our certificate',
}

test.each(Object.entries(REMEDIES))('%s is explained with a remedy and its code', (code, remedy) => {
  expect(explained(code)).toContain(remedy)
  expect(explained(code)).toContain(`(${code})`)
})

test('a missing file is a missing socket only for a Unix socket', () => {
  expect(explained('ENOENT', UNIX)).toMatch(/the socket file does not exist.*\(ENOENT\)/)
  expect(explained('ENOENT')).toBe('as the system says it')
})

test('an unknown code, or none, leaves the message of the system', () => {
  expect(explained('EOTHER')).toBe('as the system says it')
  expect(explain(new Error('as the system says it'), TLS)).toBe('as the system says it')
})

test('a target is named by its host, or by its path without one', () => {
  expect(targetOf(TLS)).toBe('tls://example.com:7000')
  expect(targetOf(UNIX)).toBe('unix:/run/server.sock')
})
