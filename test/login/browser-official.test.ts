import { createServer as createHttp, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer as ServerV2,
  oauthMetadataResponse,
  requireBearerAuth as requireV2,
} from '@modelcontextprotocol/server'
import express, { type Response as ExpressResponse } from 'express'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { browser, memoryVault } from 'pierhead/auth/client'
import { connect } from 'pierhead/client'
import { logIn, startLoginIssuer } from './engine-issuer.ts'

const ABOUT = { name: 'official', version: '1.0.0' }

/** Listens on a free port; the handler is created when the URL is known. */
async function listen(create: (url: URL) => RequestListener | Promise<RequestListener>): Promise<URL> {
  let handler: RequestListener = (_, response) => response.writeHead(503).end()
  const server = createHttp((request, response) => handler(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  handler = await create(url)
  return url
}

/** An authorization server as the v1 SDK lets programs write one; its users agree to everything. */
class Provider implements OAuthServerProvider {
  readonly #clients = new Map<string, OAuthClientInformationFull>()
  readonly #codes = new Map<string, AuthorizationParams>()
  readonly #refreshTokens = new Map<string, readonly string[]>()
  readonly tokens = new Map<string, readonly string[]>()
  readonly log: string[] = []

  readonly clientsStore = {
    getClient: (id: string) => this.#clients.get(id),
    registerClient: (client: Omit<OAuthClientInformationFull, 'client_id' | 'client_id_issued_at'>) => {
      this.log.push('registered')
      const full = { ...client, client_id: randomUUID() } as OAuthClientInformationFull
      this.#clients.set(full.client_id, full)
      return full
    },
  }

  async authorize(
    _: OAuthClientInformationFull,
    params: AuthorizationParams,
    response: ExpressResponse,
  ): Promise<void> {
    const code = randomUUID()
    this.#codes.set(code, params)
    const target = new URL(params.redirectUri)
    target.searchParams.set('code', code)
    if (params.state !== undefined) target.searchParams.set('state', params.state)
    response.redirect(target.href)
  }

  async challengeForAuthorizationCode(_: OAuthClientInformationFull, code: string): Promise<string> {
    return this.#codes.get(code)?.codeChallenge as string
  }

  async exchangeAuthorizationCode(_: OAuthClientInformationFull, code: string): Promise<OAuthTokens> {
    this.log.push('code')
    const { scopes = [] } = this.#codes.get(code) as AuthorizationParams
    this.#codes.delete(code)
    return this.#issue(scopes)
  }

  async exchangeRefreshToken(_: OAuthClientInformationFull, token: string): Promise<OAuthTokens> {
    this.log.push('refresh')
    const scopes = this.#refreshTokens.get(token) as readonly string[]
    this.#refreshTokens.delete(token)
    return this.#issue(scopes)
  }

  async verifyAccessToken(
    token: string,
  ): Promise<Awaited<ReturnType<OAuthServerProvider['verifyAccessToken']>>> {
    const scopes = this.tokens.get(token)
    if (scopes === undefined) {
      const { InvalidTokenError } = await import('@modelcontextprotocol/sdk/server/auth/errors.js')
      throw new InvalidTokenError('unknown')
    }
    return {
      token,
      clientId: 'any',
      scopes: [...scopes],
      expiresAt: Date.now() / 1000 + 60,
      extra: { sub: 'ann' },
    }
  }

  #issue(scopes: readonly string[]): OAuthTokens {
    const [access_token, refresh_token] = [randomUUID(), randomUUID()]
    this.tokens.set(access_token, scopes)
    this.#refreshTokens.set(refresh_token, scopes)
    return { access_token, refresh_token, token_type: 'bearer', expires_in: 60, scope: scopes.join(' ') }
  }
}

test('our client logs in to a server of the official v1 SDK that is its own issuer, and refreshes', async () => {
  const provider = new Provider()
  const url = await listen((own) => {
    const app = express()
    const issuerUrl = new URL(own.origin)
    app.use(mcpAuthRouter({ provider, issuerUrl, resourceServerUrl: own, scopesSupported: ['notes'] }))
    const resourceMetadataUrl = `${own.origin}/.well-known/oauth-protected-resource/mcp`
    app.use(requireBearerAuth({ verifier: provider, requiredScopes: ['notes'], resourceMetadataUrl }))
    app.all('/mcp', async (request, response) => {
      const server = new ServerV1(ABOUT)
      server.registerTool('who', {}, (extra) => ({
        content: [{ type: 'text', text: String(extra.authInfo?.extra?.['sub']) }],
      }))
      const transport = new StreamableHTTPServerTransport({})
      await server.connect(transport as never)
      await transport.handleRequest(request, response)
    })
    return app
  })
  const vault = memoryVault()
  const open = async (page: URL): Promise<string> => {
    const reply = await fetch(page, { redirect: 'manual' })
    return reply.headers.get('location') as string
  }
  await using client = await connect(url, { auth: browser({ vault, open }) })
  expect(await client.call('who', {})).toBe('ann')
  expect(provider.log).toEqual(['registered', 'code'])
  provider.tokens.clear()
  expect(await client.call('who', {})).toBe('ann')
  expect(provider.log).toEqual(['registered', 'code', 'refresh'])
})

test.each(['2026-07-28', '2025-11-25'] as const)(
  'our client logs in to a server of the official v2 SDK with a separate issuer at %s',
  async (revision) => {
    const issuer = await startLoginIssuer()
    const metadata = await (await fetch(`${issuer.url}/.well-known/openid-configuration`)).json()
    const url = await listen((own) => {
      const keys = createRemoteJWKSet(new URL(`${issuer.url}/jwks`))
      const gate = requireV2({
        verifier: {
          async verifyAccessToken(token) {
            const { payload } = await jwtVerify(token, keys, { issuer: issuer.url, audience: own.href })
            const scopes = String(payload['scope']).split(' ')
            return {
              token,
              clientId: 'any',
              scopes,
              expiresAt: payload.exp as number,
              extra: { sub: payload.sub },
            }
          },
        },
        requiredScopes: ['notes:read'],
        resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(own),
      })
      const handler = createMcpHandler(() => {
        const server = new ServerV2(ABOUT)
        server.registerTool('who', {}, (context) => ({
          content: [{ type: 'text', text: String(context.http?.authInfo?.extra?.['sub']) }],
        }))
        return server
      })
      const options = {
        oauthMetadata: metadata as never,
        resourceServerUrl: own,
        scopesSupported: ['notes:read'],
        dangerouslyAllowInsecureIssuerUrl: true,
      }
      const node = toNodeHandler({
        async fetch(request) {
          const document = oauthMetadataResponse(request, options)
          if (document !== undefined) return document
          const auth = await gate(request)
          return auth instanceof Response ? auth : handler.fetch(request, { authInfo: auth })
        },
      })
      return (request, response) => void node(request as never, response)
    })
    await using client = await connect(url, { revision, auth: browser({ open: (page) => logIn(page) }) })
    expect(await client.call('who', {})).toBe('ann')
    expect(issuer.log).toEqual(['registered', 'grant authorization_code'])
    expect(issuer.requests[0]?.get('resource')).toBe(url.href)
  },
)
