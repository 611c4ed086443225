import type { RequestListener } from 'node:http'
import { exportJWK, exportPKCS8, generateKeyPair, type JWK } from 'jose'
import * as oauth from 'oauth4webapi'
import Provider from 'oidc-provider'
import { serve } from '../auth/serve.ts'

export const SECRET = 'the secret of robots: 50% + more, and-long_enough.'

/** A key pair of a client, in the forms that programs have. */
export interface ClientKey {
  readonly algorithm: string
  readonly pem: string
  readonly jwk: JWK
  readonly key: CryptoKey
}

/** Creates the key pair of a client. */
export async function createClientKey(algorithm: string): Promise<ClientKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return {
    algorithm,
    pem: await exportPKCS8(privateKey),
    jwk: { ...(await exportJWK(privateKey)), alg: algorithm, kid: `key-${algorithm}` },
    key: privateKey,
  }
}

/** A real issuer with confidential clients: oidc-provider. */
export interface RealIssuer {
  readonly url: string
  readonly metadata: oauth.AuthorizationServer
  close(): Promise<void>
}

/** Starts an issuer. Client `basic` and `post` have a secret; each key has a client with the name of its algorithm. */
export async function startRealIssuer({
  keys = [],
  nonces = false,
}: { keys?: readonly ClientKey[]; nonces?: boolean } = {}): Promise<RealIssuer> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end()
  const { url, close } = await serve((request, response) => listener(request, response))
  listener = new Provider(url, await configuration(keys, nonces)).callback()
  const issuer = new URL(url)
  const response = await oauth.discoveryRequest(issuer, { [oauth.allowInsecureRequests]: true })
  return { url, metadata: await oauth.processDiscoveryResponse(issuer, response), close }
}

async function configuration(keys: readonly ClientKey[], nonces: boolean): Promise<Record<string, unknown>> {
  const { jwk } = await createClientKey('ES256')
  const robot = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }
  const secret = { ...robot, client_secret: SECRET }
  return {
    jwks: { keys: [{ ...jwk, use: 'sig' }] },
    clients: [
      { ...secret, client_id: 'basic', token_endpoint_auth_method: 'client_secret_basic' },
      { ...secret, client_id: 'post', token_endpoint_auth_method: 'client_secret_post' },
      ...keys.map((key) => ({
        ...robot,
        client_id: key.algorithm,
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: key.algorithm,
        jwks: { keys: [publicPart(key.jwk)] },
      })),
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    enabledJWA: {
      clientAuthSigningAlgValues: ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256'],
    },
    scopes: ['notes:read', 'notes:write'],
    ttl: { ClientCredentials: 600 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: nonces
        ? { enabled: true, nonceSecret: Buffer.alloc(32), requireNonce: () => true }
        : { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'notes:read notes:write',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  }
}

function publicPart({ kty, crv, x, y, n, e, alg, kid }: JWK): object {
  return { kty, crv, x, y, n, e, alg, kid }
}
