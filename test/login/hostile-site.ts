import type { IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import { serve } from '../auth/serve.ts'
import { readBody } from './engine-issuer.ts'

/** What a site replies with. Texts are sent as they are, since some numbers do not survive as objects. */
export interface Reply {
  readonly status?: number
  readonly json?: object | string
  readonly challenge?: string
}

/** A server that is its own issuer, whose replies a test chooses. */
export interface HostileSite {
  readonly origin: string
  /** The URL of the server. */
  readonly url: URL
  /** The forms of all requests for tokens so far. */
  readonly forms: URLSearchParams[]
  /** The credentials of all calls so far. */
  readonly calls: (string | undefined)[]
}

export interface HostileReplies {
  /** The metadata of the server. Default: that of an honest one. */
  resource?(origin: string): Reply
  /** The metadata of the issuer. Default: that of an honest one. */
  issuer?(origin: string): object
  register?(): object | string
  token?(form: URLSearchParams, request: IncomingMessage): Reply
  /** The reply to a call; undefined accepts it. Default: calls with any token are accepted. */
  call?(credentials: string | undefined): Reply | undefined
}

/** Starts a site until the test is over. */
export async function startHostile(replies: HostileReplies = {}): Promise<HostileSite> {
  const forms: URLSearchParams[] = []
  const calls: (string | undefined)[] = []
  const { url: origin, close } = await serve((request, response) => {
    void readBody(request).then((body) => {
      const { status = 200, json = {}, challenge } = replyTo(request, body)
      const headers = challenge === undefined ? {} : { 'www-authenticate': challenge }
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof json === 'string' ? json : JSON.stringify(json))
    })
  })
  onTestFinished(close)

  function replyTo(request: IncomingMessage, body: string): Reply {
    const path = request.url as string
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return (
        replies.resource?.(origin) ?? {
          json: { resource: `${origin}/mcp`, authorization_servers: [origin] },
        }
      )
    if (path.startsWith('/.well-known/'))
      return { json: { ...metadataOf(origin), ...replies.issuer?.(origin) } }
    if (path === '/register') return { status: 201, json: replies.register?.() ?? { client_id: 'client' } }
    if (path === '/token') {
      forms.push(new URLSearchParams(body))
      return (
        replies.token?.(forms.at(-1)!, request) ?? {
          json: { access_token: `token-${forms.length}`, token_type: 'Bearer', expires_in: 3600 },
        }
      )
    }
    const { authorization } = request.headers
    calls.push(authorization)
    const reply = authorization === undefined ? REJECTED : replies.call?.(authorization)
    return reply ?? { json: { result: { content: [{ text: authorization }] } } }
  }
  return { origin, url: new URL(`${origin}/mcp`), forms, calls }
}

/** The reply to a call without the right token. */
export const REJECTED: Reply = { status: 401, challenge: 'Bearer' }

function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  }
}

/** Agrees to any login, as a user whom the issuer knows already. */
export async function agree(page: URL): Promise<URL> {
  const answer = new URL(page.searchParams.get('redirect_uri') as string)
  answer.searchParams.set('code', 'code')
  answer.searchParams.set('state', page.searchParams.get('state') as string)
  return answer
}
