import { badOption } from '../../../base/options.ts'
import type { McpError } from '../../../errors/error.ts'
import { isUrl, parseUrl } from '../../../protocol/url.ts'

/** Reads the URL of a server; throws unless it is an HTTP URL. */
export function readTarget(url: string | URL): URL {
  const badUrl = (reason: string): McpError => badOption('url', reason)
  if (!isUrl(String(url))) throw badUrl('it is not a URL')
  const target = parseUrl(url)
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw badUrl('it is not an http or https URL')
  if (target.username !== '' || target.password !== '')
    throw badUrl('put credentials into headers, not into the URL')
  target.hash = ''
  return target
}
