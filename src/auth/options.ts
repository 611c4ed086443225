import { isLoopback } from '../base/loopback.ts'
import { listOf, TEXT, type Kind, type KindsOf } from '../base/kinds.ts'
import { badOption } from '../base/options.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { isScope, SCOPE } from '../rpc/scopes.ts'
import type { ScopeHierarchy } from './scopes.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** The options that all methods have. */
export interface CommonAuthOptions {
  /**
   * The URL of the server as its clients use it, such as `https://mcp.example.com/mcp`. Clients find the metadata of the server
   * with it (RFC 9728). Default: none; the server then publishes no metadata.
   */
  readonly resource?: string | undefined
  /** The scopes that every caller needs. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** The scopes that others include: `{ admin: ['read', 'write'] }`. Default: none. */
  readonly includes?: ScopeHierarchy | undefined
  /**
   * Further members of the metadata, such as `{ resource_name: 'Orders' }`. Those that follow from the other options, such as
   * `resource`, cannot be changed. Default: none.
   */
  readonly metadata?: JsonObject | undefined
}

const INCLUDES: Kind<ScopeHierarchy> = {
  must: `an object with lists of scopes, such as { admin: ['read', 'write'] }`,
  is: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([scope, others]) => isScope(scope) && Array.isArray(others) && others.every(isScope),
    ),
  write(name, value) {
    if (!isObject(value) || Array.isArray(value)) return undefined
    const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
    const text = entries.find(([scope, others]) => isScope(scope) && isScope(others))
    if (text !== undefined) return `write ${name}: { ${text[0]}: ['${String(text[1])}'] }`
    const wrong = entries.find(([, others]) => !Array.isArray(others) || !others.every(isScope))
    return wrong === undefined
      ? 'one of its names is not a scope'
      : `the list of ${JSON.stringify(wrong[0])} has something other than a scope`
  },
}

/** The members of the metadata that follow from the other options. */
const OWN_MEMBERS = ['resource', 'authorization_servers', 'scopes_supported', 'bearer_methods_supported']

const METADATA: Kind<JsonObject> = {
  must: 'an object with further members of the metadata',
  is: (value) =>
    isObject(value) && !Array.isArray(value) && !OWN_MEMBERS.some((name) => Object.hasOwn(value, name)),
  write(_, value) {
    const own = OWN_MEMBERS.find((name) => Object.hasOwn(Object(value) as object, name))
    return own && `remove ${own}, which follows from the other options`
  },
}

/** What to write for a URL object. URLs are compared as text, and an object may change that. */
export function writeUrl(name: string, value: unknown): string | undefined {
  if (!(value instanceof URL)) return undefined
  return value.pathname === '/'
    ? `it is a URL object, which adds a final slash: write ${name}: "${value.origin}"`
    : `it is a URL object: write ${name}: url.href`
}

export const URL_TEXT: Kind<string> = { ...TEXT, write: writeUrl }

export const COMMON_AUTH_OPTIONS: KindsOf<CommonAuthOptions> = {
  resource: URL_TEXT,
  scopes: listOf(SCOPE),
  includes: INCLUDES,
  metadata: METADATA,
}

/** Checks the URL of a server. It is compared as text, so it is returned as it was written. */
export function readResource(where: string, resource: string): string {
  const example = 'write the URL that clients use, such as https://mcp.example.com/mcp'
  if (!isUrl(resource)) throw badOption(where, `resource is not a URL; ${example}`)
  const url = parseUrl(resource)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw badOption(where, `resource must begin with https:// (http:// only for this machine); ${example}`)
  if (/[?#]/.test(resource)) throw badOption(where, `resource must not have a query or fragment; ${example}`)
  if (url.username !== '' || url.password !== '')
    throw badOption(where, `resource must not contain credentials; ${example}`)
  return resource
}
