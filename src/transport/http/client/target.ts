import { badOption } from '../../../base/options.ts'
import type { McpError } from '../../../errors/error.ts'

/** Reads the URL of a server; throws unless it is an HTTP URL. */
export function readTarget(url: string | URL): URL {
  const badUrl = (reason: string): McpError => badOption('url', reason)
  if (!URL.canParse(String(url))) throw badUrl('it is not a URL')
  const target = new URL(url)
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw badUrl('it is not an http or https URL')
  if (target.username !== '' || target.password !== '')
    throw badUrl('put credentials into headers, not into the URL')
  target.hash = ''
  return target
}
