import { mcpError } from '../../../errors/error.ts'
import { BAD_OPTION } from '../../../errors/base.ts'

/** The host without its port, or undefined when the header is not a plain host. */
export function hostOf(header: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1]?.toLowerCase()
}

/** Reads a host from an option, in lower case; throws if it is not one. */
export function readHost(host: string): string {
  const name = host.includes('::') && !host.startsWith('[') ? `[${host}]` : host
  if (name === '*' || (hostOf(name) ?? '') === name.toLowerCase()) return name.toLowerCase()
  throw mcpError(BAD_OPTION, {
    where: 'hosts',
    reason: `"${host}" is not a host; write it without scheme, port and path`,
  })
}

function example(origin: string): string {
  return hostOf(origin) === undefined ? 'https://example.com' : `https://${origin}`
}

/** Reads an origin from an option, in lower case; throws if it is not one. */
export function readOrigin(origin: string): string {
  if (origin === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(origin)) return origin.toLowerCase()
  throw mcpError(BAD_OPTION, {
    where: 'cors',
    reason: `"${origin}" is not an origin; write scheme://host, and the port if there is one, such as ${example(origin)}`,
  })
}
