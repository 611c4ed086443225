import { importJWK, importPKCS8, type JWK } from 'jose'
import { oneOf, type Kind } from '../../base/kinds.ts'
import { badOption } from '../../base/options.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { ALGORITHMS, type Algorithm } from '../jwt.ts'

/** A key of Web Cryptography, as the library of the runtime types it: not every program has the types of browsers. */
export type WebKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

/** A private key as a JWK (RFC 7517). */
export interface PrivateJwk {
  /** The kind of the key, such as `EC`. */
  readonly kty?: string | undefined
  /** The private part. */
  readonly d?: string | undefined
  /** The algorithm that it signs with. Default: the one that fits the kind of the key. */
  readonly alg?: string | undefined
  /** The id of the key. Default: none. */
  readonly kid?: string | undefined
}

/** A private key: PEM text (PKCS #8), a JWK or a `CryptoKey`. */
export type PrivateKey = string | PrivateJwk | WebKey

/** A private key that is ready to sign. */
export interface SigningKey {
  readonly key: WebKey
  readonly algorithm: string
  /** The id of the key, which a JWK may have. */
  readonly kid: string | undefined
}

/** The algorithms that PEM text is tried with; it does not name any, but fits only one of them. */
const OF_PEM: readonly Algorithm[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256']

const PEM = '-----BEGIN PRIVATE KEY-----'

export const PRIVATE_KEY: Kind<PrivateKey> = {
  must: `a private key: PEM text that begins with ${PEM}, a JWK or a CryptoKey`,
  is: (value) =>
    typeof value === 'string' ? value.trimStart().startsWith(PEM) : isCryptoKey(value) || isPrivateJwk(value),
  write(_, value) {
    if (typeof value === 'string')
      return value.includes('PRIVATE KEY-----')
        ? 'convert it with: openssl pkcs8 -topk8 -nocrypt -in key.pem'
        : 'it is another text; give the contents of the file, not its name'
    return isObject(value) && 'kty' in value ? 'it is a public or symmetric key' : undefined
  },
}

export const ALGORITHM: Kind<Algorithm> = oneOf(...ALGORITHMS)

/** Reads a private key. Without `algorithm`, that of the key is used. */
export async function readPrivateKey(
  where: string,
  key: PrivateKey,
  algorithm: Algorithm | undefined,
): Promise<SigningKey> {
  if (typeof key !== 'string' && isCryptoKey(key)) return readCryptoKey(where, key, algorithm)
  const names = algorithmsFor(key, algorithm)
  for (const name of names) {
    const imported = await importKey(key, name)
    if (imported !== undefined)
      return { key: imported, algorithm: name, kid: typeof key === 'string' ? undefined : key.kid }
  }
  throw badOption(where, `key cannot be used for ${names.join(', ')}; check the key and the option algorithm`)
}

/** The names of an algorithm, the given one first: one has two (RFC 9864). */
export function namesOf(algorithm: string): readonly string[] {
  const other = new Map([
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
  ]).get(algorithm)
  return other === undefined ? [algorithm] : [algorithm, other]
}

function algorithmsFor(key: string | PrivateJwk, algorithm: Algorithm | undefined): readonly Algorithm[] {
  if (algorithm !== undefined) return [algorithm]
  const named = typeof key === 'string' ? undefined : ALGORITHMS.find((name) => name === key.alg)
  return named === undefined ? OF_PEM : [named]
}

async function importKey(key: string | PrivateJwk, algorithm: Algorithm): Promise<WebKey | undefined> {
  try {
    if (typeof key === 'string') return await importPKCS8(key, algorithm)
    const imported = await importJWK(key as JWK, algorithm)
    return imported instanceof Uint8Array ? undefined : imported
  } catch {
    // The reason may contain parts of the key.
    return undefined
  }
}

function readCryptoKey(where: string, key: CryptoKey, algorithm: Algorithm | undefined): SigningKey {
  const name = nameOf(key)
  if (name === undefined || key.type !== 'private' || !key.usages.includes('sign'))
    throw badOption(where, 'key must be a private key for signatures')
  if (algorithm !== undefined && !namesOf(name).includes(algorithm))
    throw badOption(where, `key is for ${name}, not for ${algorithm}; leave out algorithm`)
  return { key, algorithm: algorithm ?? name, kid: undefined }
}

/** The algorithm of a key, from its parameters for Web Crypto. */
function nameOf({ algorithm }: CryptoKey): string | undefined {
  const { name, namedCurve, hash } = algorithm as EcKeyAlgorithm & RsaHashedKeyAlgorithm
  const bits = hash?.name.replace('SHA-', '')
  const names: ReadonlyMap<string, string> = new Map([
    ['ECDSA', `ES${namedCurve?.replace('P-', '').replace('521', '512')}`],
    // Issuers rather know the older name.
    ['Ed25519', 'EdDSA'],
    ['RSASSA-PKCS1-v1_5', `RS${bits}`],
    ['RSA-PSS', `PS${bits}`],
  ])
  return ALGORITHMS.find((one) => one === names.get(name))
}

function isCryptoKey(value: unknown): value is CryptoKey {
  return value instanceof CryptoKey
}

function isPrivateJwk(value: unknown): boolean {
  return isObject(value) && typeof value['kty'] === 'string' && typeof value['d'] === 'string'
}
