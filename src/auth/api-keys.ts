import { listOf, required, type Kind, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import { SCOPE } from '../rpc/scopes.ts'
import type { AuthMethod } from '../transport/http/server/auth-method.ts'
import { digestOf, randomText, toBase64Url } from './digests.ts'
import { createMethod } from './method.ts'
import { COMMON_AUTH_OPTIONS, readResource, type CommonAuthOptions } from './options.ts'

/** The owner of a key. */
export interface KeyOwner {
  /** Identifies the caller, as in `ctx.auth.sub`. Several keys may belong to one caller. */
  readonly sub: string
  /** The scopes of the caller. Default: none. */
  readonly scopes?: readonly string[] | undefined
}

/** The options of `apiKeys`. */
export interface ApiKeyOptions extends CommonAuthOptions {
  /**
   * The owner of each key: its subject, or its subject and scopes. The names are the digests of the keys, as `digestApiKey` returns them:
   * SHA-256 in base64url or hexadecimal.
   */
  readonly digests: Readonly<Record<string, string | KeyOwner>>
}

const DIGESTS: Kind<ApiKeyOptions['digests']> = {
  must: `an object with the owner of each key by its digest, such as { 'n4bQ…': { sub: 'ann', scopes: ['read'] } }`,
  is: (value) => isObject(value) && !Array.isArray(value),
}

const API_KEY_OPTIONS: KindsOf<ApiKeyOptions> = { ...COMMON_AUTH_OPTIONS, digests: required(DIGESTS) }

const OWNER_OPTIONS: KindsOf<KeyOwner> = {
  sub: required(
    { must: 'a string that is not empty', is: (value) => typeof value === 'string' && value !== '' },
    'sub is missing; it identifies the caller',
  ),
  scopes: listOf(SCOPE),
}

const WHERE = 'apiKeys'
/** With it, a key never has the form of a digest, and tools that search for secrets find it. */
const KEY_PREFIX = 'key_'

/**
 * Authenticates callers by keys that you hand out: `Authorization: Bearer <key>`. The server knows only digests, so its configuration
 * contains no secret. Use random keys, as `createApiKey` makes them: short ones can be found from their digests.
 *
 * @example
 * const auth = apiKeys({ digests: { [await digestApiKey(process.env.ANNS_KEY!)]: { sub: 'ann', scopes: ['orders:read'] } } })
 * createServer({ name: 'orders', version: '1.0.0', auth })
 */
export function apiKeys(options: ApiKeyOptions): AuthMethod {
  checkOptions(WHERE, options, API_KEY_OPTIONS)
  const { resource, scopes = [], includes = {}, metadata = {}, digests } = options
  const owners = new Map(
    Object.entries(digests).map(([digest, owner], index) => readEntry(digest, owner, index)),
  )
  if (owners.size === 0) throw badOption(WHERE, 'digests is empty; add one with digestApiKey(key)')
  return createMethod({
    name: WHERE,
    resource: resource && readResource(WHERE, resource),
    issuers: [],
    scopes,
    includes,
    metadata,
    async verify(key) {
      // How long this takes says nothing about the keys: nobody can choose the beginning of a digest.
      const owner = owners.get(await digestOf(key))
      return owner && { auth: { sub: owner.sub, scopes: owner.scopes ?? [] } }
    },
  })
}

/** The digest of a key, for the option `digests` of `apiKeys`: SHA-256 in base64url. */
export async function digestApiKey(key: string): Promise<string> {
  if (typeof key !== 'string' || key === '')
    throw badOption('digestApiKey', 'pass the key, a string that is not empty')
  return digestOf(key)
}

/** Creates a random key, `key_` and 43 more characters, for `digestApiKey` and for the caller who gets it. */
export function createApiKey(): string {
  return KEY_PREFIX + randomText()
}

/** Reads one entry: the digest in base64url, without padding, and the owner. The error does not repeat the digest, which may be a key. */
function readEntry(name: string, given: unknown, index: number): readonly [string, KeyOwner] {
  const digest = readDigest(name)
  if (digest === undefined) {
    const reason = `the name of entry ${index + 1} of digests is not a SHA-256 digest; if it is a key, write [await digestApiKey(key)]`
    throw badOption(WHERE, reason)
  }
  const where = `${WHERE} digests, entry ${index + 1}`
  const owner: unknown = typeof given === 'string' ? { sub: given } : given
  if (!isObject(owner)) throw badOption(where, `expected a subject, or { sub: 'ann', scopes: ['read'] }`)
  checkOptions<KeyOwner>(where, owner, OWNER_OPTIONS)
  const { sub, scopes = [] } = owner as unknown as KeyOwner
  return [digest, { sub, scopes }]
}

/** A digest in its one spelling; undefined if the text is not a digest. */
function readDigest(text: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(text))
    return toBase64Url(Uint8Array.from(text.match(/../g) as string[], (pair) => parseInt(pair, 16)))
  if (!/^[\w-]{43}=?$/.test(text)) return undefined
  const binary = atob(text.replace(/=$/, '').replaceAll('-', '+').replaceAll('_', '/'))
  return toBase64Url(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
}
