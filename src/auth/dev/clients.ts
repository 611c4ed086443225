import { base64url } from 'jose'
import { isLoopback } from '../../base/loopback.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { digestOf, randomText } from '../digests.ts'
import { OAuthError, type OAuthCode } from './oauth-error.ts'
import { redirectFault } from './redirects.ts'
import { Store } from './store.ts'
import { parseUrl } from '../../protocol/url.ts'

/** A program that asks for tokens. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** The digest of its secret; undefined for a public client. */
  readonly secret?: string
  /** How it authenticates. */
  readonly authMethod: AuthMethodName
  /** Whether it can refresh tokens. */
  readonly refreshes: boolean
  /** The host of its metadata document; undefined if it was registered. */
  readonly host?: string
}

export type AuthMethodName = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** How clients that register themselves can authenticate at the token endpoint. */
export const AUTH_METHODS: readonly AuthMethodName[] = ['none', 'client_secret_basic', 'client_secret_post']
export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token']

/** How many registrations are counted. */
const MAX_CLIENTS = 100
/** For how long a registration counts. */
const COUNTED_MS = 86_400_000
const MAX_REDIRECTS = 10
const MAX_NAME = 200
/** Ids are part of URLs. */
const MAX_ID = 4_096

/** Whether a client only receives codes on this computer, so that any program here can pretend to be it. */
export function isLocalOnly({ redirectUris }: Client): boolean {
  return redirectUris.every((uri) => isLoopback(parseUrl(uri).hostname))
}

/** The members that registrations and metadata documents have in common. */
export function readClient(
  id: string,
  metadata: Readonly<Record<string, unknown>>,
  schemes: readonly string[],
): Omit<Client, 'authMethod'> {
  const { client_name: name = '', grant_types: grants, response_types: responses } = metadata
  if (typeof name !== 'string' || name.length > MAX_NAME)
    throw unfit(`client_name must be a string of at most ${MAX_NAME} characters`)
  if (grants !== undefined && !(isTexts(grants) && grants.includes('authorization_code')))
    throw unfit('grant_types must be a list that contains authorization_code')
  if (responses !== undefined && !(isTexts(responses) && responses.includes('code')))
    throw unfit('response_types must be a list that contains code')
  const redirectUris = readRedirects(metadata['redirect_uris'], schemes)
  // Most clients with a metadata document refresh tokens without naming the grant type.
  return { id, name, redirectUris, refreshes: !isTexts(grants) || grants.includes('refresh_token') }
}

/**
 * The clients that registered (RFC 7591). Not too many may be in use in a day; those that nobody uses make room for others. The id of a client contains its registration, so that it outlives
 * this process: many clients keep their id and cannot be told to register again. Anyone may register, so an id that was made up
 * gives its maker nothing that a registration would not.
 */
export class Clients {
  readonly #registered = new Store<true>(MAX_CLIENTS)
  readonly #schemes: readonly string[]
  readonly #inUse: () => ReadonlySet<string>

  /** `inUse` returns the ids of the clients that users have granted something. */
  constructor(schemes: readonly string[], inUse: () => ReadonlySet<string>) {
    this.#schemes = schemes
    this.#inUse = inUse
  }

  /** The client with an id; undefined if the id contains no registration. */
  get(id: string): Client | undefined {
    const metadata = id.length > MAX_ID ? undefined : decode(id)
    if (!isObject(metadata) || !Array.isArray(metadata['redirect_uris'])) return undefined
    const { secret_digest: secret } = metadata
    const authMethod = readAuthMethod(metadata['token_endpoint_auth_method'])
    if (authMethod === 'none') return { ...readClient(id, metadata, this.#schemes), authMethod }
    if (typeof secret !== 'string') return undefined
    return { ...readClient(id, metadata, this.#schemes), authMethod, secret }
  }

  /** Registers a client. Returns the body of the reply. */
  async register(metadata: unknown): Promise<object> {
    if (!isObject(metadata)) throw unfit('the body must be a JSON object with the metadata of the client')
    const client = readClient('', metadata, this.#schemes)
    const authMethod = readAuthMethod(metadata['token_endpoint_auth_method'])
    const secret = authMethod === 'none' ? undefined : randomText()
    const known = {
      ...(client.name !== '' && { client_name: client.name }),
      redirect_uris: client.redirectUris,
      grant_types: client.refreshes ? GRANT_TYPES : ['authorization_code'],
      token_endpoint_auth_method: authMethod,
    }
    const secret_digest = secret === undefined ? undefined : await digestOf(secret)
    const id = base64url.encode(JSON.stringify({ ...known, secret_digest, nonce: randomText(12) }))
    if (id.length > MAX_ID) throw unfit('the registration is too long; use fewer or shorter redirect_uris')
    this.#makeRoom()
    this.#registered.set(id, true, Date.now() + COUNTED_MS)
    return {
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1_000),
      ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      ...known,
      response_types: ['code'],
      ...(typeof metadata['application_type'] === 'string' && {
        application_type: metadata['application_type'],
      }),
    }
  }

  /** Evicts the oldest registration that nobody uses. Throws if all are in use. */
  #makeRoom(): void {
    if (this.#registered.size < MAX_CLIENTS) return
    const inUse = this.#inUse()
    const unused = this.#registered.keys().find((id) => !inUse.has(id))
    if (unused === undefined) throw this.#full()
    this.#registered.delete(unused)
  }

  #full(): OAuthError {
    const seconds = Math.ceil((this.#registered.firstExpiry - Date.now()) / 1_000)
    const text = `${MAX_CLIENTS} clients are registered and in use, which is the limit; restart the development server, or use a client metadata document`
    return new OAuthError('temporarily_unavailable', text, 429, { 'retry-after': String(seconds) })
  }
}

/** Reads the registration in an id; undefined if there is none. */
function decode(id: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(base64url.decode(id)))
  } catch {
    return undefined
  }
}

function readAuthMethod(given: unknown = 'client_secret_basic'): AuthMethodName {
  const known = AUTH_METHODS.find((method) => method === given)
  if (known === undefined) throw unfit(`token_endpoint_auth_method must be one of ${AUTH_METHODS.join(', ')}`)
  return known
}

function readRedirects(given: unknown, schemes: readonly string[]): readonly string[] {
  if (!isTexts(given) || given.length === 0 || given.length > MAX_REDIRECTS)
    throw unfit(`redirect_uris must be a list of 1 to ${MAX_REDIRECTS} URLs`, 'invalid_redirect_uri')
  given.forEach((uri, at) => {
    const fault = redirectFault(uri, schemes)
    if (fault !== undefined) throw unfit(`redirect_uris[${at}] ${fault}`, 'invalid_redirect_uri')
  })
  return given
}

function unfit(message: string, code: OAuthCode = 'invalid_client_metadata'): OAuthError {
  return new OAuthError(code, message)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
