import { base64url, calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify, type JWK } from 'jose'
import { isObject } from '../protocol/jsonrpc.ts'
import type { Presented, Rejected } from '../transport/http/server/auth-method.ts'
import { reject } from './claims.ts'
import { ALGORITHMS } from './jwt.ts'
import type { Nonces } from './nonces.ts'
import { createReplays } from './replays.ts'
import { readHeader } from './token-header.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** How old a proof may be, without the difference of the clocks. */
const MAX_AGE_MS = 60_000
/** The longest proof that is verified. */
const MAX_LENGTH = 8192
/** The longest identifier of a proof, since all of them are kept for a while. */
const MAX_ID_LENGTH = 128
/** The modulus and the exponent of an RSA key in bytes: verifying with larger ones takes many times as long. */
const RSA_BYTES = { least: 256, most: 512, exponent: 4 }

/** Verifies that requests come from the client that a token was issued to (RFC 9449). */
export interface Proofs {
  /** Checks the proof of a request; `jkt` is the thumbprint of the key that the token is bound to, and `account` whose token it is. */
  confirm(request: Presented, jkt: unknown, account: string): Promise<Rejected | undefined>
}

/** Settings for proofs. */
export interface ProofRules {
  /** How much the clocks of this server and its clients may differ. */
  readonly skewMs: number
  /** Undefined if proofs need no nonce. */
  readonly nonces: Nonces | undefined
}

/** Creates a verifier of proofs. Each proof is accepted once in this process. */
export function createProofs({ skewMs, nonces }: ProofRules): Proofs {
  const replays = createReplays(MAX_AGE_MS + 2 * skewMs)
  return {
    async confirm(request, jkt, account) {
      const proof = await readProof(request.proof, jkt)
      if ('rejected' in proof) return proof
      const { claims } = proof
      const age = Date.now() - Number(claims['iat']) * 1000
      const checks: readonly (readonly [boolean, string])[] = [
        [claims['htm'] === request.method, 'its htm is not the method of the request'],
        [isUrlOf(request, claims['htu']), 'its htu is not the URL of the request'],
        [claims['ath'] === (await digest(request.token)), 'its ath is not the digest of the token'],
        [typeof claims['iat'] === 'number', 'its iat is not a time in seconds'],
        [age <= MAX_AGE_MS + skewMs, 'it is too old; check the clock of the client'],
        [age >= -skewMs, 'it is from the future; check the clock of the client'],
        [isId(claims['jti']), `its jti must be a text of 1 to ${MAX_ID_LENGTH} characters`],
      ]
      const failed = checks.find(([isRight]) => !isRight)
      if (failed !== undefined) return reject('proof', failed[1])
      if (nonces !== undefined && !(await nonces.isValid(claims['nonce'])))
        return reject('nonce', 'it must have the nonce of this server; use the value of DPoP-Nonce')
      return replays.add({ account, key: jkt as string, id: claims['jti'] as string })
    },
  }
}

interface Proof {
  readonly claims: Readonly<Record<string, unknown>>
}

const MALFORMED = reject('proof', 'it is malformed, or its signature is wrong')

/** Verifies a proof whose key must have this thumbprint. The key is checked before the signature, which takes more time. */
async function readProof(proof: string | undefined, jkt: unknown): Promise<Proof | Rejected> {
  if (proof === undefined) return reject('proof', 'there is none; send it in the header DPoP')
  if (proof.length > MAX_LENGTH) return reject('proof', `it is longer than ${MAX_LENGTH} characters`)
  try {
    const jwk = keyOf(proof)
    if (jwk === undefined) return MALFORMED
    if ((await calculateJwkThumbprint(jwk)) !== jkt)
      return reject('proof', 'its key is not the key of the token')
    if (!isQuick(jwk))
      return reject('proof', 'its RSA key must have 2048 to 4096 bits, and an exponent of at most 32 bits')
    const { payload } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: [...ALGORITHMS] })
    return { claims: payload }
  } catch (thrown) {
    // Errors about the proof are clear from the request. Others may be ours.
    return thrown instanceof errors.JOSEError ? MALFORMED : { ...MALFORMED, cause: thrown }
  }
}

function keyOf(proof: string): JWK | undefined {
  const jwk = readHeader(proof)?.['jwk']
  return isObject(jwk) ? (jwk as JWK) : undefined
}

/** Whether a signature of the key is verified quickly. */
function isQuick({ kty, n = '', e = '' }: JWK): boolean {
  if (kty !== 'RSA') return true
  const size = bytesIn(n)
  return size >= RSA_BYTES.least && size <= RSA_BYTES.most && bytesIn(e) <= RSA_BYTES.exponent
}

/** The number of bytes of a text in base64url. */
function bytesIn(text: string): number {
  return Math.floor((text.length * 3) / 4)
}

function isUrlOf({ url, resource }: Presented, htu: unknown): boolean {
  return isSameUrl(htu, url) || (resource !== undefined && isSameUrl(htu, resource))
}

/** Compares URLs in their normal form, without query and fragment. */
function isSameUrl(htu: unknown, url: string): boolean {
  return typeof htu === 'string' && isUrl(htu) && plain(htu) === plain(url)
}

function plain(text: string): string {
  const url = parseUrl(text)
  url.search = ''
  url.hash = ''
  return url.href
}

function isId(jti: unknown): boolean {
  return typeof jti === 'string' && jti !== '' && jti.length <= MAX_ID_LENGTH
}

async function digest(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return base64url.encode(new Uint8Array(bytes))
}
