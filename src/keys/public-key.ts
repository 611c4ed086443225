import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { badOption } from '../base/options.ts'

/** A public key that was read from its text. */
export interface PublicKey {
  /** The text, which exists only once for each key. */
  readonly text: string
  readonly fingerprint: string
  /** Whether a signature of some bytes was made with the private key. */
  verifies(bytes: Uint8Array, signature: Uint8Array): boolean
}

const PREFIX = 'ed25519:'
const KEY_BYTES = 32

/** Reads the text of a public key; undefined if it is not one. */
export function readPublicKey(text: unknown): PublicKey | undefined {
  if (typeof text !== 'string' || !text.startsWith(PREFIX)) return undefined
  const x = text.slice(PREFIX.length)
  const raw = readBytes(x, KEY_BYTES)
  if (raw === undefined || isWeak(raw)) return undefined
  let key: KeyObject
  try {
    key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
  } catch {
    return undefined
  }
  return {
    text,
    fingerprint: `sha256:${createHash('sha256').update(raw).digest('base64url')}`,
    verifies: (bytes, signature) => verify(null, bytes, key, signature),
  }
}

/** The points of small order, without their signs, in all their encodings: signatures for them can be made without a private key. */
const WEAK = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
])

function isWeak(raw: Uint8Array): boolean {
  const point = Buffer.from(raw)
  const last = KEY_BYTES - 1
  point[last] = (point[last] ?? 0) & 0x7f
  return WEAK.has(point.toString('hex'))
}

/** Reads a public key from the options; throws if it is not one. */
export function toPublicKey(where: string, text: unknown): PublicKey {
  const key = readPublicKey(text)
  if (key !== undefined) return key
  // What does not even begin like one may be a private key.
  const isLike = typeof text === 'string' && text.startsWith(PREFIX)
  const shown = isLike ? JSON.stringify(text.slice(0, 64)) : 'the given text'
  throw badOption(where, `${shown} is not a public key; write publicKey of createKeys, such as ed25519:…`)
}

/** The text of the public key of a pair. */
export function publicTextOf(privateKey: KeyObject): string {
  return `${PREFIX}${createPublicKey(privateKey).export({ format: 'jwk' }).x}`
}

/** Decodes base64url; undefined unless it is the only text for exactly so many bytes. */
export function readBytes(text: unknown, length: number): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length > 2 * length) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : undefined
}
