import assert from 'node:assert/strict'
import { browser, clientCredentials, enterprise, workload, type ClientAuth } from 'pierhead/auth/client'
import type { Client } from 'pierhead/client'

/** Connects to the server of a scenario. */
export type Connect = (auth: ClientAuth) => Promise<Client>

/** What a client does in one scenario about authorization. The context has the credentials that the scenario gives it. */
export type LoginScenario = (
  connect: Connect,
  context: Readonly<Record<string, string>>,
  url: string,
) => Promise<void>

/** The scenarios in which logging in succeeds with no credentials but a metadata document. */
const USUAL = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  'offline-access-scope',
  'offline-access-not-supported',
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
  '2025-03-26-oauth-metadata-backcompat',
  '2025-03-26-oauth-endpoint-fallback',
]

/** The scenarios whose server or issuer must not be trusted. */
const REFUSED = [
  'resource-mismatch',
  'metadata-issuer-mismatch',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
]

export const LOGIN_SCENARIOS: ReadonlyMap<string, LoginScenario> = new Map<string, LoginScenario>([
  ...USUAL.map((name) => named(name, (connect) => useTool(connect, login()))),
  ...REFUSED.map((name) => named(name, (connect) => isRefused(connect, login()))),
  named('pre-registration', async (connect, { client_id: clientId, client_secret: clientSecret }, url) =>
    useTool(connect, login({ clientId, clientSecret, issuer: await issuerOf(url) })),
  ),
  named('scope-retry-limit', (connect) => isRefused(connect, login(), 'insufficient_scope')),
  named('dpop', (connect) => useTool(connect, login({ dpop: true }))),
  named('dpop-nonce', (connect) => useTool(connect, login({ dpop: true }))),
  named(
    'client-credentials-basic',
    async (connect, { client_id: clientId = '', client_secret: clientSecret }, url) =>
      useTool(connect, clientCredentials({ clientId, clientSecret, issuer: await issuerOf(url) })),
  ),
  named('client-credentials-jwt', (connect, context) => {
    const { client_id: clientId = '', private_key_pem: key, signing_algorithm: algorithm } = context
    return useTool(connect, clientCredentials({ clientId, key, algorithm: algorithm as 'ES256' }))
  }),
  named('enterprise-managed-authorization', async (connect, context, url) => {
    const {
      client_id: clientId = '',
      client_secret: clientSecret,
      idp_client_id = '',
      idp_issuer = '',
    } = context
    const provider = { issuer: idp_issuer, clientId: idp_client_id }
    const idToken = (): string => context['idp_id_token'] ?? ''
    const issuer = await issuerOf(url)
    return useTool(connect, enterprise({ clientId, clientSecret, issuer, provider, idToken }))
  }),
  named('wif-jwt-bearer', (connect, { client_id: clientId, valid_jwt: jwt = '' }) =>
    useTool(connect, workload({ clientId, jwt: () => jwt })),
  ),
])

function named(name: string, scenario: LoginScenario): [string, LoginScenario] {
  return [`auth/${name}`, scenario]
}

/** The issuer that the suite gave the secret for. Programs have it in their configuration; the suite publishes it with its server. */
async function issuerOf(url: string): Promise<string | undefined> {
  const { origin, pathname } = new URL(url)
  const reply = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`)
  const { authorization_servers: [issuer] = [] } = (await reply.json()) as {
    readonly authorization_servers?: readonly string[]
  }
  return issuer
}

/** A user who logs in at once: the issuers of the suite answer the request for the login page with the redirect. */
function login(options: Parameters<typeof browser>[0] = {}): ClientAuth {
  return browser({
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    redirectUri: 'http://localhost:3000/callback',
    open: async (page) => {
      const reply = await fetch(page, { redirect: 'manual' })
      return reply.headers.get('location') ?? undefined
    },
    ...options,
  })
}

async function useTool(connect: Connect, auth: ClientAuth): Promise<void> {
  await using client = await connect(auth)
  for await (const _ of client.tools()) continue
  await client.call('test-tool')
}

async function isRefused(connect: Connect, auth: ClientAuth, kind = 'login_failed'): Promise<void> {
  await assert.rejects(useTool(connect, auth), { kind })
}
