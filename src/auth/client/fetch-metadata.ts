import { PassingProblem, shownUrl } from './problem.ts'
import { parseUrl } from '../../protocol/url.ts'

/**
 * Fetches a document that may be at a URL. Resolves with undefined if the server says that it has none there. Throws if nothing can be
 * said, because the server cannot be reached or failed.
 */
export async function fetchMetadata(
  url: string,
  fetch: typeof globalThis.fetch,
  step: (text: string) => void,
): Promise<Response | undefined> {
  const response = await fetch(url, { headers: { accept: 'application/json' } })
  const { status } = response
  if (status === 200) return response
  const shown = shownUrl(parseUrl(url))
  if (status >= 500 || status === 429) throw new PassingProblem(`${shown} replied with status ${status}`)
  const isRedirect = status >= 300 && status < 400
  step(`found nothing at ${shown}: status ${status}${isRedirect ? ', a redirect that is not followed' : ''}`)
  return undefined
}
