import { base64url } from 'jose'

/** A nonce is offered for this time, and accepted for as long again. */
const STEP_MS = 60_000
/** The bytes of the time in a nonce, and of the part of the signature that it contains. */
const TIME_BYTES = 8

const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** The nonces of a server, which limit how long before their use proofs can be created. */
export interface Nonces {
  /** The nonce of this time. No promise if it is known. */
  current(): string | Promise<string>
  /** Whether a value is a nonce that was offered a short time ago. */
  isValid(nonce: unknown): Promise<boolean>
}

/**
 * Creates nonces that need no memory: each is a time and its signature. Servers with the same secret accept each other's.
 * Without one, it is random.
 */
export function createNonces(secret: string | undefined): Nonces {
  let key: Promise<CryptoKey> | undefined
  let known = { step: Number.NaN, nonce: '' }
  // Not earlier, because Workers create no random values before the first request.
  const signer = (): Promise<CryptoKey> => (key ??= importSecret(secret))
  return {
    current() {
      const step = stepNow()
      if (known.step === step) return known.nonce
      return sign(signer(), step).then((nonce) => {
        known = { step, nonce }
        return nonce
      })
    },
    async isValid(nonce) {
      const bytes = decode(nonce)
      if (bytes === undefined || bytes.length <= TIME_BYTES) return false
      const time = bytes.slice(0, TIME_BYTES)
      const step = new DataView(time.buffer).getFloat64(0)
      // The next one too: other servers with the same secret may have a faster clock.
      if (!(Math.abs(stepNow() - step) <= 1)) return false
      return crypto.subtle.verify(HMAC, await signer(), bytes.slice(TIME_BYTES), time)
    },
  }
}

function stepNow(): number {
  return Math.floor(Date.now() / STEP_MS)
}

async function sign(key: Promise<CryptoKey>, step: number): Promise<string> {
  const time = new Uint8Array(TIME_BYTES)
  new DataView(time.buffer).setFloat64(0, step)
  const signature = new Uint8Array(await crypto.subtle.sign(HMAC, await key, time))
  return base64url.encode(new Uint8Array([...time, ...signature]))
}

function importSecret(secret: string | undefined): Promise<CryptoKey> {
  const bytes =
    secret === undefined
      ? crypto.getRandomValues(new Uint8Array(32))
      : new TextEncoder().encode(`pierhead DPoP nonces ${secret}`)
  return crypto.subtle.importKey('raw', bytes, HMAC, false, ['sign', 'verify'])
}

function decode(nonce: unknown): Uint8Array<ArrayBuffer> | undefined {
  try {
    return typeof nonce === 'string' ? new Uint8Array(base64url.decode(nonce)) : undefined
  } catch {
    return undefined
  }
}
