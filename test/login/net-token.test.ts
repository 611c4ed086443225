import * as oauth from 'oauth4webapi'
import { expect, onTestFinished, test } from 'vitest'
import { findIssuer } from '../../src/auth/client/issuer.ts'
import { startIssuer } from '../auth/issuer.ts'
import { localFetch } from './net-site.ts'

test('a token is requested from oidc-provider, with metadata that was found and the checked fetch', async () => {
  const issuer = await startIssuer()
  onTestFinished(() => issuer.close())
  const server = await findIssuer({
    issuer: issuer.url,
    isLegacy: false,
    fetch: localFetch,
    step: () => undefined,
    allowOrigins: [],
    allowsHttp: true,
  })
  const client = { client_id: issuer.clientId }
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic(issuer.clientSecret),
    { resource: 'https://mcp.example.com/mcp', scope: 'notes:read' },
    { [oauth.customFetch]: localFetch, [oauth.allowInsecureRequests]: true },
  )
  const tokens = await oauth.processClientCredentialsResponse(server, client, response)
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'notes:read' })
})
