import { processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi'
import type { GrantContext } from './grant.ts'
import { chooseAuthentication } from './token-endpoint.ts'
import { readTokens, requestTokens } from './token-request.ts'
import type { StoredRegistration, StoredTokens } from './vault.ts'

/** Gets new tokens with a refresh token, as the client that it was issued to. */
export async function refreshTokens(
  context: GrantContext,
  registration: StoredRegistration,
  refreshToken: string,
): Promise<StoredTokens> {
  const { issuer, resource } = context
  const { clientId, clientSecret: secret, authMethod } = registration
  const { authenticate } = chooseAuthentication(issuer, { clientId, secret, authMethod })
  const client = { client_id: clientId }
  const response = await requestTokens(
    context,
    (options) =>
      refreshTokenGrantRequest(issuer, client, authenticate, refreshToken, {
        ...options,
        ...(resource !== undefined && { additionalParameters: { resource } }),
      }),
    (reply) => processRefreshTokenResponse(issuer, client, reply),
  )
  return readTokens(response, context)
}
