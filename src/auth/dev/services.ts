import { createLocalJWKSet, decodeJwt, jwtVerify, type JWK } from 'jose'
import { listOf, required, TEXT, type Kind, type KindsOf } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { SCOPE } from '../../rpc/scopes.ts'
import { digestOf } from '../digests.ts'
import { ALGORITHMS } from '../jwt.ts'
import type { Client } from './clients.ts'
import { Store } from './store.ts'

/** A service that gets tokens on its own behalf (`clientCredentials`). It has a secret or keys. */
export interface DevClient {
  /** The id of the service, which is also the subject of its tokens. */
  readonly clientId: string
  /** Its secret. Default: it has keys. */
  readonly clientSecret?: string | undefined
  /** Its public keys, as a JSON Web Key Set. Default: it has a secret. */
  readonly jwks?: DevKeys | undefined
  /** The scopes that it can get. Default: all that it asks for. */
  readonly scopes?: readonly string[] | undefined
}

/** Public keys (RFC 7517). */
export interface DevKeys {
  /** Each key, as `createPublicKey(pem).export({ format: 'jwk' })` of Node writes it. */
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** A service as the endpoints know it. */
export interface Service extends Client {
  readonly keys: ReturnType<typeof createLocalJWKSet> | undefined
  /** The scopes that it can get; undefined means all. */
  readonly scopes: readonly string[] | undefined
}

const JWKS: Kind<DevKeys> = {
  must: "public keys: { keys: [createPublicKey(pem).export({ format: 'jwk' })] }",
  is: (value) => isObject(value) && Array.isArray(value['keys']) && value['keys'].every(isPublicJwk),
}

const CLIENT: KindsOf<DevClient> = {
  clientId: required(TEXT),
  clientSecret: TEXT,
  jwks: JWKS,
  scopes: listOf(SCOPE),
}

/** The id of the MCP server, which introspects tokens. */
export const SERVER_ID = 'mcp-server'
/** The type of assertions with which services authenticate (RFC 7523). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Assertions that are remembered, so that none is used twice. */
const MAX_ASSERTIONS = 10_000
const ASSERTION_SECONDS = 600

/** The services that the options of `devAuth` list. */
export class Services {
  readonly #services = new Map<string, Service>()
  readonly #used = new Store<true>(MAX_ASSERTIONS)

  /** Reads the option `clients`. */
  static async from(given: readonly DevClient[] = []): Promise<Services> {
    const services = new Services()
    for (const [at, client] of given.entries()) await services.#add(client, `devAuth clients[${at}]`)
    return services
  }

  /** Whether there are any. */
  get isEmpty(): boolean {
    return this.#services.size === 0
  }

  /** Whether one of them has keys. */
  get haveKeys(): boolean {
    return [...this.#services.values()].some(({ keys }) => keys !== undefined)
  }

  get(id: string): Service | undefined {
    return this.#services.get(id)
  }

  /** Whether an assertion is signed by a service, for this issuer, and was not used before. */
  async accepts({ id, keys }: Service, assertion: string, audience: readonly string[]): Promise<boolean> {
    if (keys === undefined) return false
    const rules = {
      issuer: id,
      subject: id,
      audience: [...audience],
      algorithms: [...ALGORITHMS],
      requiredClaims: ['exp', 'jti'],
      maxTokenAge: ASSERTION_SECONDS,
    }
    const verified = await jwtVerify(assertion, keys, rules).catch(() => undefined)
    if (verified === undefined) return false
    const key = `${id} ${verified.payload.jti}`
    const isNew = this.#used.get(key) === undefined
    this.#used.set(key, true, Date.now() + ASSERTION_SECONDS * 1_000)
    return isNew
  }

  async #add(client: DevClient, where: string): Promise<void> {
    checkOptions<DevClient>(where, client, CLIENT)
    const { clientId: id, clientSecret, jwks, scopes } = client
    if ((clientSecret === undefined) === (jwks === undefined))
      throw badOption(where, 'give it either clientSecret or jwks, its public keys')
    if (id === SERVER_ID) throw badOption(where, `"${id}" is the id of the server itself; use another`)
    if (this.#services.has(id)) throw badOption(where, `"${id}" is listed twice`)
    this.#services.set(id, {
      id,
      name: id,
      redirectUris: [],
      refreshes: false,
      authMethod: jwks === undefined ? 'client_secret_basic' : 'private_key_jwt',
      ...(clientSecret !== undefined && { secret: await digestOf(clientSecret) }),
      keys: jwks && createLocalJWKSet({ keys: jwks.keys as unknown as JWK[] }),
      scopes,
    })
  }
}

/** The client that an assertion says it comes from, before it is verified. */
export function claimedClient(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub
  } catch {
    return undefined
  }
}

function isPublicJwk(value: unknown): boolean {
  return isObject(value) && typeof value['kty'] === 'string' && value['kty'] !== 'oct' && !('d' in value)
}
