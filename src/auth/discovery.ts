import type { JsonObject } from '../protocol/jsonrpc.ts'
import { fetchObject, IssuerError } from './issuer-fetch.ts'
import { isSafeUrl } from './urls.ts'
import { issuerMetadataUrls } from './well-known.ts'

/** Metadata is fetched again after this time. */
const FRESH_MS = 3_600_000

/** The metadata of one issuer. */
export interface Discovery {
  /** The URL of an endpoint or a document that the metadata names. */
  urlOf(member: string): Promise<string>
  /** The words of a list in the metadata; undefined if it has no such list. */
  wordsOf(member: string): Promise<readonly string[] | undefined>
  /** Discards the metadata, because what it names does not work. */
  forget(): void
}

/** Finds the metadata of an issuer (RFC 8414 and OpenID Connect Discovery), and keeps it. */
export function createDiscovery(issuer: string): Discovery {
  let known: { readonly document: JsonObject; readonly at: number } | undefined
  const read = async (): Promise<JsonObject> => {
    if (known === undefined || performance.now() - known.at > FRESH_MS)
      known = { document: await discover(issuer), at: performance.now() }
    return known.document
  }
  return {
    async urlOf(member) {
      const url = (await read())[member]
      if (isSafeUrl(url)) return url
      throw new IssuerError(`the metadata of ${issuer} has no ${member} with an https URL`)
    },
    async wordsOf(member) {
      const list = (await read())[member]
      return Array.isArray(list) ? list.filter((word) => typeof word === 'string') : undefined
    },
    forget: () => (known = undefined),
  }
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
