import { isLoopback } from '../../base/loopback.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { readClient, type Client } from './clients.ts'
import type { Fetched } from './fetch-document.ts'
import { OAuthError } from './oauth-error.ts'
import { Store } from './store.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

const MAX_DOCUMENTS = 100
/** How many documents are fetched at the same time. */
const MAX_RUNNING = 20
const MAX_AGE_S = 86_400
/** For how long a document is used whose server does not say. */
const DEFAULT_AGE_S = 300

/** Clients whose id is the URL of a document that describes them (draft-ietf-oauth-client-id-metadata-document). */
export class Documents {
  readonly #known = new Store<Client>(MAX_DOCUMENTS)
  readonly #running = new Map<string, Promise<Client>>()
  readonly #schemes: readonly string[]
  readonly #fetch: (url: URL) => Promise<Fetched>

  constructor(schemes: readonly string[], fetch: (url: URL) => Promise<Fetched>) {
    this.#schemes = schemes
    this.#fetch = fetch
  }

  /** The client with an id that is a URL. Failures are not kept. */
  async get(id: string): Promise<Client> {
    const known = this.#known.get(id) ?? this.#running.get(id)
    if (known !== undefined) return known
    if (this.#running.size >= MAX_RUNNING)
      throw new OAuthError(
        'temporarily_unavailable',
        `${MAX_RUNNING} metadata documents of clients are being fetched, which is the limit; try again soon`,
        503,
        { 'retry-after': '5' },
      )
    const running = this.#load(id).finally(() => this.#running.delete(id))
    this.#running.set(id, running)
    return running
  }

  async #load(id: string): Promise<Client> {
    const fault = idFault(id)
    if (fault !== undefined) throw new OAuthError('invalid_client', `the client id ${fault}`)
    const url = parseUrl(id)
    const { text, cacheControl } = await this.#fetch(url).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new OAuthError('invalid_client', `the metadata document of the client cannot be used: ${reason}`)
    })
    const client = { ...readDocument(id, text, this.#schemes), host: url.host, authMethod: 'none' as const }
    const age = ageOf(cacheControl)
    if (age > 0) this.#known.set(id, client, Date.now() + age * 1_000)
    return client
  }
}

/**
 * A client with a document, as far as is known without the document. Such clients have no secret, and a code or refresh token says the rest. Scripts of any web
 * page may use the endpoints for clients, so they must not choose what is fetched there.
 */
export function undescribed(id: string): Client {
  return { id, name: '', redirectUris: [], authMethod: 'none', refreshes: false }
}

/** Whether a client id is meant as the URL of a document. */
export function isDocumentId(id: string): boolean {
  return /^https?:/i.test(id)
}

/** Says what is wrong with the URL; undefined if nothing is. http is for development, on this computer only. */
function idFault(id: string): string | undefined {
  if (!isUrl(id) || id.length > 2_048) return 'is not a URL of at most 2,048 characters'
  const { protocol, hostname, username, password, pathname } = parseUrl(id)
  if (protocol !== 'https:' && !isLoopback(hostname)) return 'must use https'
  if (username !== '' || password !== '') return 'must not contain a user name or a password'
  if (id.includes('#')) return 'must not have a fragment'
  if (pathname === '/') return 'must have a path'
  if (/\/(\.|%2e){1,2}(\/|\?|$)/i.test(id)) return 'must not have the path segments . and ..'
  return undefined
}

function readDocument(id: string, text: string, schemes: readonly string[]): Omit<Client, 'authMethod'> {
  const document = parse(text)
  if (!isObject(document)) throw unfit('is not a JSON object')
  if (document['client_id'] !== id) throw unfit('must have its own URL as client_id')
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw unfit('must not contain a secret, because everyone can read it')
  const method = document['token_endpoint_auth_method'] ?? 'none'
  if (method !== 'none') throw unfit(`must have the token_endpoint_auth_method none here`)
  if (typeof document['client_name'] !== 'string') throw unfit('must have a client_name')
  return readClient(id, document, schemes)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unfit(fault: string): OAuthError {
  return new OAuthError('invalid_client', `the metadata document of the client ${fault}`)
}

/** For how many seconds a document may be used. */
function ageOf(cacheControl: string = ''): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return 0
  const [, age = DEFAULT_AGE_S] = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl) ?? []
  return Math.min(Number(age), MAX_AGE_S)
}
