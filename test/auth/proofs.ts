import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose'
import { seconds } from './hostile-tokens.ts'

/** A client with a key of its own. */
export interface Prover {
  /** The thumbprint of its key. */
  readonly jkt: string
  readonly keys: CryptoKeyPair
  /** Creates a proof for a request; a good one, if nothing is changed. */
  prove(
    request: { readonly token: string; readonly method: string; readonly url: string },
    claims?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>
}

/** Creates a client with a key of its own. */
export async function createProver(alg: string = 'ES256'): Promise<Prover> {
  const keys = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(keys.publicKey)
  return {
    jkt: await calculateJwkThumbprint(jwk),
    keys,
    prove: ({ token, method, url }, claims = {}, header = {}) =>
      new SignJWT({
        htm: method,
        htu: url,
        ath: createHash('sha256').update(token).digest('base64url'),
        iat: seconds(0),
        jti: randomUUID(),
        ...claims,
      })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header } as JWTHeaderParameters)
        // So that it also signs a header that nobody understands.
        .sign(keys.privateKey, { crit: { x: true } }),
  }
}

/** A proof that must be rejected: changes of a good one. */
export interface HostileProof {
  readonly id: string
  readonly what: string
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Changes the proof after it was signed. */
  readonly change?: (proof: string) => string | undefined
}

export const HOSTILE_PROOFS: readonly HostileProof[] = [
  { id: 'A.dpop-missing', what: 'no proof', change: () => undefined },
  { id: 'A.dpop-garbage', what: 'a proof that is not a JSON Web Token', change: () => 'garbage' },
  { id: 'A.dpop-twice', what: 'two proofs', change: (proof) => `${proof}, ${proof}` },
  {
    id: 'A.dpop-flipped',
    what: 'a proof with another signature',
    change: (proof) => proof.slice(0, -8) + 'AAAAAAAA',
  },
  { id: 'A.dpop-long', what: 'a proof that is too long', claims: { more: 'x'.repeat(9000) } },
  { id: 'A.dpop-htm', what: 'a proof for another method', claims: { htm: 'DELETE' } },
  { id: 'A.dpop-htm-case', what: 'a proof with the method in lower case', claims: { htm: 'post' } },
  { id: 'A.dpop-htm-missing', what: 'a proof without a method', claims: { htm: undefined } },
  { id: 'A.dpop-htu', what: 'a proof for another URL', claims: { htu: 'https://evil.example/mcp' } },
  { id: 'A.dpop-htu-missing', what: 'a proof without a URL', claims: { htu: undefined } },
  { id: 'A.dpop-htu-relative', what: 'a proof with only a path', claims: { htu: '/mcp' } },
  { id: 'A.dpop-ath', what: 'a proof for another token', claims: { ath: 'AAAA' } },
  { id: 'A.dpop-ath-missing', what: 'a proof without the digest of the token', claims: { ath: undefined } },
  { id: 'A.dpop-old', what: 'a proof that is five minutes old', claims: { iat: seconds(-300) } },
  { id: 'A.dpop-future', what: 'a proof from a clock five minutes ahead', claims: { iat: seconds(300) } },
  { id: 'A.dpop-iat-missing', what: 'a proof without a time', claims: { iat: undefined } },
  { id: 'A.dpop-iat-text', what: 'a proof whose time is text', claims: { iat: '1' } },
  { id: 'A.dpop-jti-missing', what: 'a proof without an id', claims: { jti: undefined } },
  { id: 'A.dpop-jti-long', what: 'a proof with a very long id', claims: { jti: 'x'.repeat(1000) } },
  { id: 'A.dpop-typ', what: 'a proof of another type', header: { typ: 'JWT' } },
  { id: 'A.dpop-crit', what: 'a proof with an unknown critical extension', header: { crit: ['x'], x: 1 } },
  { id: 'A.dpop-no-key', what: 'a proof without its key', header: { jwk: undefined } },
  {
    id: 'A.dpop-secret-key',
    what: 'a proof whose key is a secret',
    header: { jwk: { kty: 'oct', k: 'AAAA' } },
  },
]
