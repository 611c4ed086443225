import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { onTestFinished } from 'vitest'
import { serve } from '../auth/serve.ts'

/** A real issuer on which people log in: oidc-provider with its pages for development. */
export interface LoginIssuer {
  readonly url: string
  /** What it did, in order, such as `grant authorization_code`, `refused refresh_token` and `registered`. */
  readonly log: string[]
  /** The parameters of each authorization request. */
  readonly requests: URLSearchParams[]
  /** The bodies of the replies that are changed, by path. */
  readonly instead: Map<string, RequestListener>
  /** How long access tokens live from now on, in seconds. */
  ttl: number
  /** Revokes a token that a public client got. */
  revoke(token: string, clientId: string): Promise<void>
}

export interface IssuerOptions {
  readonly configuration?: Readonly<Record<string, unknown>>
  readonly features?: Readonly<Record<string, unknown>>
  /** Whether tokens can be read only by the issuer. */
  readonly opaque?: boolean
}

/** The credentials with which a server introspects tokens. */
export const INTROSPECTOR = { clientId: 'server', clientSecret: 'the-secret-of-server-which-is-long-enough' }

/** Starts an issuer for one test. Clients register themselves, and refresh tokens are used once. */
export async function startLoginIssuer(options: IssuerOptions = {}): Promise<LoginIssuer> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end()
  const { url, close } = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (pathname === '/auth') issuer.requests.push(searchParams)
    return (issuer.instead.get(pathname) ?? listener)(request, response)
  })
  onTestFinished(close)
  const issuer: LoginIssuer = {
    url,
    log: [],
    requests: [],
    instead: new Map(),
    ttl: 600,
    async revoke(token, clientId) {
      const body = new URLSearchParams({ token, client_id: clientId })
      await fetch(`${url}/token/revocation`, { method: 'POST', body })
    },
  }
  const provider = new Provider(url, await configurationOf(issuer, options))
  provider.on('grant.success', ({ oidc }) => issuer.log.push(`grant ${oidc.params?.['grant_type']}`))
  provider.on('grant.error', ({ oidc }) => issuer.log.push(`refused ${oidc.params?.['grant_type']}`))
  provider.on('registration_create.success', () => issuer.log.push('registered'))
  listener = provider.callback()
  return issuer
}

async function configurationOf(
  issuer: LoginIssuer,
  { configuration, features, opaque = false }: IssuerOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'es-1' }
  return {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: INTROSPECTOR.clientId,
        client_secret: INTROSPECTOR.clientSecret,
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['a key for the cookies of tests'] },
    scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    ttl: {
      AccessToken: () => issuer.ttl,
      AuthorizationCode: 60,
      Grant: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 600,
    },
    ...configuration,
    features: {
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      // So that tests see the parameters of the page.
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'notes:read notes:write',
          audience: resource,
          accessTokenFormat: opaque ? 'opaque' : 'jwt',
          accessTokenTTL: issuer.ttl,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
      ...features,
    },
  }
}

/** A request that an issuer received. */
export interface Received {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Records the requests to one path of an issuer, which answers them as usual, unless the reply is changed. */
export function record(
  issuer: LoginIssuer,
  path: string,
  change: (reply: Response) => Promise<Response> | Response = (reply) => reply,
): Received[] {
  const received: Received[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const names = ['accept', 'authorization', 'content-type', 'dpop'] as const
    const sent = names.flatMap((name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    const headers = Object.fromEntries(sent)
    received.push({ body, headers })
    issuer.instead.delete(path)
    const method = request.method as string
    const passed = await fetch(issuer.url + path, { method, headers, ...(method === 'POST' && { body }) })
    issuer.instead.set(path, listener)
    const reply = await change(passed)
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text())
  }
  const listener: RequestListener = (request, response) => void pass(request, response)
  issuer.instead.set(path, listener)
  return received
}

/** The body of a request. */
export async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

/** Changes the metadata of an issuer. A member that is undefined is left out. */
export async function changeMetadata(
  issuer: LoginIssuer,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const reply = await fetch(`${issuer.url}/.well-known/openid-configuration`)
  const metadata = { ...((await reply.json()) as object), ...changes }
  for (const name of ['openid-configuration', 'oauth-authorization-server'])
    issuer.instead.set(`/.well-known/${name}`, (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(metadata))
    })
}

/** Logs a person in on the pages of the issuer, as a browser without scripts would. Returns where the browser is sent at the end. */
export async function logIn(page: URL, isAllowed: boolean = true): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = page
  let form: URLSearchParams | undefined
  for (let turn = 0; turn < 12; turn++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const text = await response.text()
    const location = response.headers.get('location')
    form = undefined
    if (location !== null) url = new URL(location, url)
    else ({ url, form } = readPage(text, url, isAllowed))
    if (url.origin !== page.origin) return url
  }
  throw new Error(`the login does not end: ${url}`)
}

/** What a person does on a page: log in, agree, or cancel. */
function readPage(
  text: string,
  url: URL,
  isAllowed: boolean,
): { url: URL; form: URLSearchParams | undefined } {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
  const [, prompt] = /name="prompt" value="([^"]+)"/.exec(text) ?? []
  const [, abort] = /<a href="([^"]+\/abort)"/.exec(text) ?? []
  if (action === undefined || prompt === undefined) throw new Error(`an unexpected page: ${text}`)
  if (prompt === 'consent' && !isAllowed) return { url: new URL(abort as string, url), form: undefined }
  return { url: new URL(action, url), form: new URLSearchParams({ prompt, login: 'ann', password: 'any' }) }
}
