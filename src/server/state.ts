import { mcpError } from '../errors/error.ts'
import { BAD_STATE } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The state of a request between rounds. */
export interface RoundState {
  /** Answers of earlier rounds, by key. */
  readonly answers: Readonly<Record<string, JsonObject>>
  /** Values of `ctx.once`, by key. */
  readonly once: Readonly<Record<string, unknown>>
}

/** Encrypts and decrypts the state that the client carries between rounds. */
export interface Sealer {
  seal(state: RoundState, binding: string): Promise<string>
  /** Throws unless the text was encrypted by this server for the same binding and has not expired. */
  open(text: string, binding: string): Promise<RoundState>
  /** A digest of the caller, the method and the arguments that a state belongs to. */
  bind(owner: string, method: string, params: JsonObject): Promise<string>
}

export interface SealerOptions {
  /** The secret for encryption, followed by older ones that are still accepted; a random one by default. */
  readonly secrets: readonly string[] | undefined
  readonly ttlMs: number
  readonly now?: () => number
}

const MAX_STATE = 256 * 1024
const IV_BYTES = 12

/** AES-GCM with a key derived from the first secret; the binding is authenticated data. */
export function createSealer(options: SealerOptions): Sealer {
  const { ttlMs, now = Date.now } = options
  const secrets = options.secrets ?? [crypto.randomUUID() + crypto.randomUUID()]
  let keys: Promise<readonly CryptoKey[]> | undefined
  const allKeys = (): Promise<readonly CryptoKey[]> => (keys ??= Promise.all(secrets.map(toKey)))

  return {
    async seal(state, binding) {
      const [key] = await allKeys()
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const plain = bytes(JSON.stringify({ ...state, expires: now() + ttlMs }))
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: bytes(binding) },
        key!,
        plain,
      )
      return toBase64Url(new Uint8Array([...iv, ...new Uint8Array(sealed)]))
    },
    async open(text, binding) {
      if (text.length > MAX_STATE) throw mcpError(BAD_STATE, { reason: 'it is too large' })
      const sealed = fromBase64Url(text)
      for (const key of await allKeys()) {
        const plain = await decrypt(key, sealed, bytes(binding))
        if (plain === undefined) continue
        const { expires, ...state } = JSON.parse(plain) as RoundState & { expires: number }
        if (expires <= now()) throw mcpError(BAD_STATE, { reason: 'it has expired' })
        return state
      }
      throw mcpError(BAD_STATE, { reason: 'it was not issued for this request' })
    },
    bind: toBinding,
  }
}

/** A digest of the caller, the method and the arguments that a state belongs to. */
export async function toBinding(owner: string, method: string, params: JsonObject): Promise<string> {
  const { _meta: _1, inputResponses: _2, requestState: _3, ...rest } = params
  const digest = await crypto.subtle.digest('SHA-256', bytes(JSON.stringify([owner, method, sorted(rest)])))
  return toBase64Url(new Uint8Array(digest))
}

async function toKey(secret: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest('SHA-256', bytes(`pierhead request state ${secret}`))
  return crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

async function decrypt(
  key: CryptoKey,
  sealed: Uint8Array,
  binding: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  if (sealed.length <= IV_BYTES) return undefined
  const algorithm = { name: 'AES-GCM', iv: sealed.slice(0, IV_BYTES), additionalData: binding }
  try {
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed.slice(IV_BYTES)))
  } catch {
    return undefined
  }
}

/** The value with sorted keys in every object, so that equal arguments have equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = value as JsonObject
  const pairs = Object.keys(members)
    .toSorted()
    .map((key) => [key, sorted(members[key])])
  return { pairs }
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function toBase64Url(data: Uint8Array): string {
  let binary = ''
  for (const byte of data) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function fromBase64Url(text: string): Uint8Array {
  try {
    const data = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    return toBase64Url(data) === text ? data : new Uint8Array()
  } catch {
    return new Uint8Array()
  }
}
