import type { JsonObject } from '../protocol/jsonrpc.ts'
import { fetchObject, IssuerError } from './issuer-fetch.ts'
import { isSafeUrl } from './urls.ts'
import { issuerMetadataUrls } from './well-known.ts'

/** Metadata is fetched again after this time. */
const FRESH_MS = 3_600_000
/** Metadata is fetched at most this often, however many tokens need it. */
const PAUSE_MS = 1000
/** After this time a fetch is given up. Some runtimes stop requests without notice, and the fetch with them. */
const LOST_MS = 30_000

/** The metadata of one issuer. */
export interface Discovery {
  /** The URL of an endpoint or a document that the metadata names. */
  urlOf(member: string): Promise<string>
  /** The words of a list in the metadata; undefined if it has no such list. */
  wordsOf(member: string): Promise<readonly string[] | undefined>
  /** Tells of an error. If it means that an endpoint has moved, the metadata is fetched again after a pause. */
  noteFailure(thrown: unknown): void
}

/** Finds the metadata of an issuer (RFC 8414 and OpenID Connect Discovery), and keeps it. */
export function createDiscovery(issuer: string): Discovery {
  const metadata = new CachedMetadata(issuer)
  return {
    async urlOf(member) {
      const url = (await metadata.read())[member]
      if (isSafeUrl(url)) return url
      throw new IssuerError(`the metadata of ${issuer} has no ${member} with an https URL`)
    },
    async wordsOf(member) {
      const list = (await metadata.read())[member]
      return Array.isArray(list) ? list.filter((word) => typeof word === 'string') : undefined
    },
    noteFailure(thrown) {
      if (isGone(thrown)) metadata.isDoubtful = true
    },
  }
}

class CachedMetadata {
  /** Whether what it names may have moved. */
  isDoubtful = false
  readonly #issuer: string
  #known: JsonObject | undefined
  #reading: Promise<JsonObject> | undefined
  #startedAt = Number.NEGATIVE_INFINITY
  #problem: unknown

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  /** The metadata, which is fetched once for all that need it at the same time. Throws if it cannot be had. */
  async read(): Promise<JsonObject> {
    const age = performance.now() - this.#startedAt
    if (this.#reading !== undefined && age < LOST_MS) return this.#reading
    if (this.#known !== undefined && age < (this.isDoubtful ? PAUSE_MS : FRESH_MS)) return this.#known
    if (age < PAUSE_MS) throw this.#problem
    this.#startedAt = performance.now()
    const reading = this.#fetch().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    this.#reading = reading
    return reading
  }

  async #fetch(): Promise<JsonObject> {
    this.#known = undefined
    try {
      this.#known = await discover(this.#issuer)
      this.isDoubtful = false
      return this.#known
    } catch (thrown) {
      this.#problem = thrown
      throw thrown
    }
  }
}

/** Replies of something else than the endpoint or the document that the metadata named, such as a page or a redirect. */
const GONE: ReadonlySet<number | undefined> = new Set([200, 301, 302, 303, 307, 308, 404, 410])

/** Whether an error may mean that something has moved. Other errors, and slow replies, say nothing about that. */
function isGone(thrown: unknown): boolean {
  if (!(thrown instanceof IssuerError)) return false
  if (thrown.status !== undefined) return GONE.has(thrown.status)
  return !(thrown.cause instanceof Error && thrown.cause.name === 'TimeoutError')
}

/**
 * Fetches the first document that is the metadata of the issuer, which it must name character by character. At the other URLs an
 * issuer may have nothing, a page or the metadata of another issuer.
 */
async function discover(issuer: string): Promise<JsonObject> {
  const problems: IssuerError[] = []
  for (const url of issuerMetadataUrls(issuer)) {
    try {
      return checkIssuer(await fetchObject(url), issuer, url)
    } catch (thrown) {
      const problem = thrown as IssuerError
      if (problem.status === undefined || problem.status >= 500) throw problem
      problems.push(problem)
    }
  }
  throw problems.find(({ status }) => status === 200) ?? (problems[0] as IssuerError)
}

function checkIssuer(document: JsonObject, issuer: string, url: string): JsonObject {
  if (document['issuer'] === issuer) return document
  const named = document['issuer']
  const text =
    typeof named === 'string' ? JSON.stringify(named).slice(0, 200) : `a value of type ${typeof named}`
  const message = `${url} is the metadata of ${text}; write issuer exactly like this if it is yours`
  throw new IssuerError(message, { status: 200 })
}
