import { apiKeys, bearer, digestApiKey, introspection, oauth, type AuthMethod } from 'pierhead/auth'

/** Keys that you hand out. The server knows only their digests. */
export async function keysOf(annsKey: string): Promise<AuthMethod> {
  return apiKeys({
    digests: { [await digestApiKey(annsKey)]: { sub: 'ann', scopes: ['notes:read'] } },
  })
}

interface User {
  readonly id: string
  readonly scopes: readonly string[]
}

/** Tokens that your own code knows. */
export function yourTokens(users: { findByToken(token: string): Promise<User | undefined> }): AuthMethod {
  return bearer(async (token) => {
    const user = await users.findByToken(token)
    return user && { sub: user.id, scopes: user.scopes }
  })
}

/** Tokens that only their issuer can read. */
export function opaqueTokens(issuer: string, clientSecret: string): AuthMethod {
  return introspection({
    issuer,
    clientId: 'notes',
    clientSecret,
    resource: 'https://mcp.example/mcp',
    recheck: '30s',
  })
}

/** People log in; a backup job has a key. */
export async function both(issuer: string, jobKey: string): Promise<readonly AuthMethod[]> {
  return [
    apiKeys({ digests: { [await digestApiKey(jobKey)]: { sub: 'backup', scopes: ['notes:read'] } } }),
    oauth({ issuer, resource: 'https://mcp.example/mcp', scopes: ['notes:read'] }),
  ]
}

/** A mount below a path, whose issuer puts the site and not the path into tokens. */
export function tokensOfTheSite(issuer: string): AuthMethod {
  return oauth({ issuer, resource: 'https://mcp.example/mcp', audience: 'https://mcp.example' })
}

/** `notes:admin` includes the scopes for reading and writing. */
export function withHierarchy(issuer: string): AuthMethod {
  return oauth({
    issuer,
    resource: 'https://mcp.example/mcp',
    scopes: ['notes:read'],
    includes: { 'notes:admin': ['notes:write'], 'notes:write': ['notes:read'] },
  })
}
