/** Where credentials belong: to one client configuration, one issuer and one server. */
export interface Place {
  /** The key of the vault. */
  readonly key: string
  readonly issuer: string
  /** The value of the parameter `resource`; undefined for servers without metadata, unless the option `issuer` is set. */
  readonly resource: string | undefined
}

/** Stands for the resource of servers without metadata. */
const NONE = '-'

/**
 * The place of credentials. `owner` keeps those of different methods and clients apart. The URL of the server counts, not only the
 * resource, which may contain other servers: one of them must not get the tokens of another.
 */
export function placeOf(owner: string, issuer: string, resource: string | undefined, server: URL): Place {
  const parts = [owner, issuer, resource ?? NONE, urlOf(server)]
  // None of the parts contains a space once it is encoded, so that no two places have one key.
  return { key: parts.map(encoded).join(' '), issuer, resource }
}

/** Reads a key; undefined if it belongs to another owner or another server. */
export function readPlace(key: string, owner: string, server: URL): Place | undefined {
  // Most keys belong to another server, and a vault may have thousands.
  if (!key.startsWith(`${encoded(owner)} `) || !key.endsWith(` ${encoded(urlOf(server))}`)) return undefined
  const [, issuer, resource, url, more] = key.split(' ').map(decoded)
  if (issuer === undefined || resource === undefined || url === undefined || more !== undefined)
    return undefined
  return { key, issuer, resource: resource === NONE ? undefined : resource }
}

function urlOf({ origin, pathname, search }: URL): string {
  return origin + pathname + search
}

/** A part of a key without spaces. */
export function encoded(part: string): string {
  return part.replaceAll('%', '%25').replaceAll(' ', '%20')
}

function decoded(part: string): string {
  return part.replaceAll('%20', ' ').replaceAll('%25', '%')
}
