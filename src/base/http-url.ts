import { parseUrl } from '../protocol/url.ts'

/** The URL with which requests to a server begin, also those that open a WebSocket: with http or https, and without credentials and fragment. */
export function toHttpUrl(url: string | URL): URL {
  const http = parseUrl(url)
  http.protocol = http.protocol.replace(/^ws/, 'http')
  http.username = http.password = http.hash = ''
  return http
}
