import type { RequestListener } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import Provider from 'oidc-provider'
import { serve } from './serve.ts'

/** A real authorization server on loopback: oidc-provider. */
export interface Issuer {
  readonly url: string
  /** The credentials with which a protected server asks about tokens. */
  readonly clientId: string
  readonly clientSecret: string
  /** Gets a token with the client-credentials grant; with `proof`, it is bound to that key. */
  token(request: TokenRequest): Promise<string>
  revoke(token: string): Promise<void>
  /** Replaces its key. Tokens from before are no longer good. */
  rotate(): Promise<void>
  close(): Promise<void>
}

export interface TokenRequest {
  readonly resource: string
  readonly scope?: string
  readonly opaque?: boolean
  readonly keys?: CryptoKeyPair
  /** Who gets the token; `robot` unless given. */
  readonly client?: keyof typeof CLIENTS
}

const CLIENTS = {
  robot: 'the-secret-of-robot-which-is-long-enough',
  server: 'the-secret-of-server: which % needs + encoding',
  ann: 'the-secret-of-ann-which-is-long-enough',
  bob: 'the-secret-of-bob-which-is-long-enough',
}

/** Resources with this end get tokens that only the issuer can read. */
const OPAQUE = '?opaque'

/** Starts the authorization server. The resource of a request is its audience. */
export async function startIssuer(): Promise<Issuer> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end()
  const { url, close } = await serve((request, response) => listener(request, response))
  const rotate = async (): Promise<void> => {
    listener = new Provider(url, await configuration()).callback()
  }
  await rotate()

  const server = { ...(await discover(url)) }
  const insecure = { [oauth.allowInsecureRequests]: true }
  return {
    url,
    clientId: 'server',
    clientSecret: CLIENTS.server,
    rotate,
    close,
    async token({ resource, scope = 'notes:read', opaque = false, keys, client: id = 'robot' }) {
      const client = { client_id: id }
      const secret = oauth.ClientSecretBasic(CLIENTS[id])
      const parameters = { scope, resource: opaque ? resource + OPAQUE : resource }
      const DPoP = keys && oauth.DPoP({}, keys)
      const response = await oauth.clientCredentialsGrantRequest(server, client, secret, parameters, {
        ...insecure,
        ...(DPoP && { DPoP }),
      })
      const result = await oauth.processClientCredentialsResponse(server, client, response)
      return result.access_token
    },
    async revoke(token) {
      const client = { client_id: 'robot' }
      const secret = oauth.ClientSecretBasic(CLIENTS.robot)
      await oauth.processRevocationResponse(
        await oauth.revocationRequest(server, client, secret, token, insecure),
      )
    },
  }
}

async function discover(url: string): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(url)
  const response = await oauth.discoveryRequest(issuer, { [oauth.allowInsecureRequests]: true })
  return oauth.processDiscoveryResponse(issuer, response)
}

async function configuration(): Promise<Readonly<Record<string, unknown>>> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: crypto.randomUUID() }
  return {
    jwks: { keys: [key] },
    clients: Object.entries(CLIENTS).map(([id, secret]) => ({
      client_id: id,
      client_secret: secret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    scopes: ['notes:read', 'notes:write'],
    ttl: { ClientCredentials: 600 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'notes:read notes:write',
          audience: resource.replace(OPAQUE, ''),
          accessTokenFormat: resource.endsWith(OPAQUE) ? 'opaque' : 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  }
}
