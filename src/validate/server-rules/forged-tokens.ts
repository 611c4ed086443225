import { generateKeyPairSync, sign } from 'node:crypto'

/** Whether a token has the three parts of a JWT. */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
}

/** A JWT for a service that says that it needs no signature. */
export function unsignedToken(audience: string): string {
  return `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(claims('https://issuer.invalid', audience))}.`
}

/** A JWT with another signature. */
export function tampered(token: string): string {
  const [head = '', body = '', signature = ''] = token.split('.')
  // The last character may have bits that do not count, so the first one is changed.
  return [head, body, (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)].join('.')
}

/** A JWT for another service, in the name of an issuer, but signed with a new key. */
export function tokenOfAnother(issuer: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const text = `${encoded({ alg: 'ES256', typ: 'at+jwt' })}.${encoded(claims(issuer, 'https://another-service.invalid/mcp'))}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

function claims(iss: string, aud: string): object {
  const iat = Math.floor(Date.now() / 1000)
  return { iss, aud, sub: 'validator', client_id: 'validator', iat, exp: iat + 300 }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
