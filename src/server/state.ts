import { copyOf } from '../base/copy-of.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_STATE, STATE_TOO_LARGE } from '../errors/server.ts'
import { decodeBase64, toBase64 } from '../protocol/content.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The state of a request between rounds. */
export interface RoundState {
  /** Answers of earlier rounds, by key. */
  readonly answers: readonly (readonly [key: string, answer: JsonObject])[]
  /** Values of `ctx.once`, by key. */
  readonly once: readonly (readonly [key: string, value?: unknown])[]
  /** The keys of the questions that the next round may answer. */
  readonly open: readonly string[]
  /** Digests of the open and answered questions that have no key of their own. States of earlier versions have none. */
  readonly asked?: readonly (readonly [key: string, digest: string])[]
}

type Sealed = RoundState & { readonly expires: number; readonly binding: string }

/** Encrypts and decrypts the state that the client carries between rounds. */
export interface Sealer {
  /** Throws if the state is too large to be opened again. */
  seal(state: RoundState, binding: string): Promise<string>
  /** Throws unless the text was encrypted by this server for the same binding and has not expired. Asks for the binding, which may cost much, last. */
  open(text: string, binding: () => Promise<string>): Promise<RoundState>
  /** A digest of the caller, the method and the arguments that a state belongs to; or of a question, which has no caller. */
  bind(owner: string, method: string, params: JsonObject): Promise<string>
}

export interface SealerOptions {
  /** The name of the server. Part of the key, because servers with different tools may share a secret. */
  readonly server: string
  /** The secret for encryption, followed by older ones that are still accepted; a random one by default. */
  readonly secrets: readonly string[] | undefined
  readonly ttlMs: number
  readonly now?: () => number
  /** Called when a client sends a state that none of the secrets opens. */
  readonly onForeign?: () => void
}

/** Part of the key, so that a version of the server cannot open a state of another shape. Count up when the shape changes. */
const SHAPE = 'request state 3'
const MAX_STATE = 256 * 1024
const FOREIGN = 'it was not issued for this request'
const IV_BYTES = 12
const TAG_BYTES = 16
/** As many bytes as fit into the text of a state. */
const MAX_PLAIN = (MAX_STATE / 4) * 3 - IV_BYTES - TAG_BYTES

/** AES-GCM with a key derived from the first secret. */
export function createSealer(options: SealerOptions): Sealer {
  const { ttlMs, now = Date.now } = options
  const secrets = options.secrets ?? [crypto.randomUUID() + crypto.randomUUID()]
  let keys: Promise<readonly CryptoKey[]> | undefined
  const allKeys = (): Promise<readonly CryptoKey[]> =>
    (keys ??= Promise.all(secrets.map((secret) => toKey(options.server, secret))))

  return {
    async seal(state, binding) {
      const [key] = await allKeys()
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const plain = plainBytes({ ...state, expires: now() + ttlMs, binding })
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key!, plain)
      const whole = new Uint8Array(IV_BYTES + sealed.byteLength)
      whole.set(iv)
      whole.set(new Uint8Array(sealed), IV_BYTES)
      return toBase64Url(whole)
    },
    async open(text, binding) {
      if (text.length > MAX_STATE) throw mcpError(BAD_STATE, { reason: 'it is too large' })
      const sealed = fromBase64Url(text)
      for (const key of await allKeys()) {
        const plain = await decrypt(key, sealed)
        if (plain === undefined) continue
        const { expires, binding: own, ...state } = JSON.parse(plain) as Sealed
        if (expires <= now()) throw mcpError(BAD_STATE, { reason: 'it has expired' })
        if (own !== (await binding())) throw mcpError(BAD_STATE, { reason: FOREIGN })
        return state
      }
      options.onForeign?.()
      throw mcpError(BAD_STATE, { reason: FOREIGN })
    },
    bind: toBinding,
  }
}

/** A digest of the caller, the method and the arguments that a state belongs to. */
export async function toBinding(owner: string, method: string, params: JsonObject): Promise<string> {
  const rest = copyOf(params, '_meta', 'inputResponses', 'requestState')
  return digestOf(orderedText([owner, method, rest]))
}

/** A text that is the same for all JSON values whose members differ only in their order. */
export function orderedText(value: unknown): string {
  return JSON.stringify(sorted(value))
}

/** The SHA-256 digest of a text, in base64url. */
export async function digestOf(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes(text))))
}

/** The bytes of a state; text that is certainly too long is not encoded. */
function plainBytes(state: Sealed): Uint8Array<ArrayBuffer> {
  const text = toJson(state)
  const plain = text.length > MAX_PLAIN ? undefined : bytes(text)
  if (plain === undefined || plain.length > MAX_PLAIN) throw mcpError(STATE_TOO_LARGE, { limit: MAX_PLAIN })
  return plain
}

function toJson(state: RoundState): string {
  try {
    return JSON.stringify(state)
  } catch (cause) {
    const [key] = state.once.find(([, value]) => !isJson(value)) ?? []
    throw new TypeError(`ctx.once("${key}"): the value cannot be written as JSON; return plain values`, {
      cause,
    })
  }
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

async function toKey(server: string, secret: string): Promise<CryptoKey> {
  const text = `pierhead ${SHAPE} ${JSON.stringify([server, secret])}`
  const digest = await crypto.subtle.digest('SHA-256', bytes(text))
  return crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

async function decrypt(key: CryptoKey, sealed: Uint8Array): Promise<string | undefined> {
  if (sealed.length <= IV_BYTES) return undefined
  const algorithm = { name: 'AES-GCM', iv: sealed.slice(0, IV_BYTES) }
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
  return toBase64(data).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function fromBase64Url(text: string): Uint8Array {
  const data = decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  return data !== undefined && toBase64Url(data) === text ? data : new Uint8Array()
}
