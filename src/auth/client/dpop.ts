import { base64url, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose'
import { DPoP, modifyAssertion, type DPoPHandle } from 'oauth4webapi'
import { clip } from '../../base/clip.ts'
import type { AuthReply, AuthRequest } from '../../transport/http/client/auth-method.ts'
import type { HeaderRecord } from '../../transport/http/client/headers.ts'
import { TokenError } from './token-error.ts'
import type { StoredCredentials } from './vault.ts'

/** The algorithms of keys that are created, the preferred one first. */
const ALGORITHMS: readonly string[] = ['ES256', 'Ed25519', 'EdDSA', 'ES384', 'ES512', 'PS256', 'RS256']
/** The other names of a key: one of RSA signs for both, and `EdDSA` is what `Ed25519` was called. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['PS256', 'RSA'],
  ['RS256', 'RSA'],
  ['EdDSA', 'Ed25519'],
])
/** The characters of a nonce (RFC 9449, section 8.1), and how many a proof should carry. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/
/** How many origins have their nonce remembered. */
const MAX_NONCES = 32
/** The members of a JWK that everyone may see. */
const PUBLIC: readonly string[] = ['kty', 'crv', 'x', 'y', 'n', 'e']

/** A key pair that tokens are bound to (RFC 9449), and the proofs that requests need with them. */
export interface Dpop {
  /** Signs proofs for the issuer, and remembers its nonces. */
  readonly handle: DPoPHandle
  /** The private key, to be stored beside the tokens. */
  readonly key: Readonly<Record<string, unknown>>
  /** The headers that present a token in a request, with a new proof. */
  headers(request: AuthRequest, accessToken: string): Promise<HeaderRecord>
  /**
   * Remembers the nonce of a reply, if it has one. Returns whether the server wants the request again with that nonce. Limit how often
   * that happens: a server may want another nonce each time.
   */
  observe(url: URL, reply: AuthReply): boolean
}

/** Keeps the RSA key that was created for a server: one takes 0.1 s to create, and an issuer may accept other algorithms each time. */
export class DpopKeys {
  #rsa: Promise<JWK> | undefined

  /** The RSA key, which is created at the first call. */
  rsa(): Promise<JWK> {
    return (this.#rsa ??= createKey('RS256').catch((thrown: unknown) => {
      this.#rsa = undefined
      throw thrown
    }))
  }
}

/**
 * Opens a stored key, or creates one if there is none or it cannot be used; tokens that are bound to a lost key are useless anyway.
 * `accepted` has the algorithms that the issuer accepts, as in `dpop_signing_alg_values_supported`, and `keys` what was created before.
 */
export async function openDpop(
  stored: JWK | StoredCredentials['dpopKey'],
  accepted?: readonly string[],
  keys: DpopKeys = new DpopKeys(),
): Promise<Dpop> {
  const usable = ALGORITHMS.filter((name) => accepted?.includes(name) ?? true)
  const [preferred] = usable
  if (preferred === undefined) {
    const names = clip(accepted?.join(', ') ?? '', 200)
    throw new TokenError(`the issuer accepts proofs (DPoP) only with ${names}; use dpop: false`)
  }
  const pair = (await importPair(stored, usable)) ?? (await createPair(preferred, keys))
  const { jwk, algorithm } = pair
  const setAlgorithm = (header: Record<string, unknown>): void => void (header['alg'] = algorithm)
  const nonces = new Map<string, string>()
  return {
    handle: DPoP({}, pair, { [modifyAssertion]: setAlgorithm }),
    key: jwk,
    async headers({ verb, url }, accessToken) {
      const nonce = nonces.get(url.origin)
      const proof = await new SignJWT({
        htm: verb,
        htu: url.origin + url.pathname,
        ath: await digest(accessToken),
        jti: crypto.randomUUID(),
        ...(nonce === undefined ? {} : { nonce }),
      })
        .setIssuedAt()
        .setProtectedHeader({ typ: 'dpop+jwt', alg: algorithm, jwk: publicPart(jwk) })
        .sign(pair.privateKey)
      return { authorization: `DPoP ${accessToken}`, dpop: proof }
    },
    observe({ origin }, { status, headers }) {
      const nonce = headers.get('dpop-nonce')
      if (nonce === null || !NONCE.test(nonce)) return false
      nonces.delete(origin)
      nonces.set(origin, nonce)
      const [oldest] = nonces.keys()
      if (nonces.size > MAX_NONCES) nonces.delete(oldest!)
      return status === 401 && /\berror="?use_dpop_nonce\b/.test(headers.get('www-authenticate') ?? '')
    },
  }
}

interface Pair {
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  /** The private key with its algorithm. */
  readonly jwk: JWK & Readonly<Record<string, unknown>>
  readonly algorithm: string
}

async function createPair(algorithm: string, keys: DpopKeys): Promise<Pair> {
  const jwk = kindOf(algorithm) === 'RSA' ? await keys.rsa() : await createKey(algorithm)
  return importAs(algorithm, jwk)
}

async function createKey(algorithm: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return exportJWK(privateKey)
}

async function importPair(
  stored: JWK | StoredCredentials['dpopKey'],
  usable: readonly string[],
): Promise<Pair | undefined> {
  const { alg, d } = { ...stored } as JWK
  if (typeof alg !== 'string' || typeof d !== 'string') return undefined
  const algorithm = usable.find((name) => name === alg) ?? usable.find((name) => kindOf(name) === kindOf(alg))
  if (algorithm === undefined) return undefined
  return importAs(algorithm, stored as JWK).catch(() => undefined)
}

async function importAs(algorithm: string, key: JWK): Promise<Pair> {
  const jwk = { ...key, alg: algorithm }
  const privateKey = (await importJWK(jwk, algorithm)) as CryptoKey
  const publicKey = (await importJWK(publicPart(jwk), algorithm, { extractable: true })) as CryptoKey
  return { privateKey, publicKey, jwk, algorithm }
}

/** The kind of key with which an algorithm signs. */
function kindOf(algorithm: string): string {
  return KINDS.get(algorithm) ?? algorithm
}

function publicPart(jwk: JWK): JWK {
  return Object.fromEntries(Object.entries(jwk).filter(([name]) => PUBLIC.includes(name)))
}

async function digest(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return base64url.encode(new Uint8Array(bytes))
}
