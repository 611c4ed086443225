import { processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi'
import type { GrantContext } from './grant.ts'
import { chooseAuthentication, type TokenClient } from './token-endpoint.ts'
import { readTokens, requestTokens } from './token-request.ts'
import type { StoredTokens } from './vault.ts'

/** Gets new tokens with a refresh token, as the client that it was issued to. */
export async function refreshTokens(
  context: GrantContext,
  { clientId, ...own }: TokenClient,
  refreshToken: string,
): Promise<StoredTokens> {
  const { issuer, resource } = context
  const { authenticate } = chooseAuthentication(issuer, { clientId, ...own })
  const client = { client_id: clientId as string }
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
