import { parseUrl } from '../protocol/url.ts'

/** Where the metadata of an issuer may be, in the order of the MCP specification (RFC 8414 and OpenID Connect Discovery). */
export function issuerMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = parseUrl(issuer)
  const path = pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  )
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}
