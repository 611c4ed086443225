import { authenticateClient } from './client-auth.ts'
import type { Client } from './clients.ts'
import { discoveryOf, PATHS } from './discovery.ts'
import { Form } from './form.ts'
import type { Issuer } from './issuer.ts'
import { Logins } from './login.ts'
import { descriptionOf, OAuthError } from './oauth-error.ts'
import { errorPage } from './page.ts'
import { exchange, introspect, revoke } from './token.ts'
import { parseUrl } from '../../protocol/url.ts'

interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** Whether scripts of any web page may use it. */
  readonly isShared: boolean
  answer(request: Request): Response | Promise<Response>
}

/** The headers of all replies. */
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
const SHARED = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, Retry-After',
}
const PREFLIGHT = {
  'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'access-control-max-age': '600',
}

/** Answers the requests to an authorization server. */
export function createEndpoints(issuer: Issuer): (request: Request) => Promise<Response> {
  const endpoints = endpointsOf(issuer)
  const { host } = parseUrl(issuer.url)
  // Names of other sites can be made to resolve to this computer.
  const hosts = [host, host.replace(/^.*:/, 'localhost:')]
  return async (request) => {
    const url = parseUrl(request.url)
    const endpoint = hosts.includes(url.host) ? endpoints.get(url.pathname) : undefined
    const response =
      endpoint === undefined
        ? errorPage(`There is nothing at this address. The login server is ${issuer.url}.`, 404)
        : await answer(endpoint, request)
    const headers = { ...HEADERS, ...(endpoint?.isShared === true && SHARED) }
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    return response
  }
}

async function answer(endpoint: Endpoint, request: Request): Promise<Response> {
  const { method } = request
  const allow = endpoint.isShared ? `${endpoint.method}, OPTIONS` : endpoint.method
  if (method === 'OPTIONS' && endpoint.isShared)
    return new Response(undefined, {
      status: 204,
      headers: { ...PREFLIGHT, 'access-control-allow-methods': allow },
    })
  if (method !== endpoint.method) return new Response(undefined, { status: 405, headers: { allow } })
  try {
    return await endpoint.answer(request)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const body = { error: error.code, error_description: descriptionOf(error) }
    return Response.json(body, { status: error.status, headers: error.headers })
  }
}

function endpointsOf(issuer: Issuer): ReadonlyMap<string, Endpoint> {
  const logins = new Logins(issuer)
  const document = (body: () => object): Endpoint => ({
    method: 'GET',
    isShared: true,
    answer: () => Response.json(body()),
  })
  /** An endpoint for clients, which authenticate. */
  const service = (reply: (client: Client, form: Form) => Promise<object | void>): Endpoint => ({
    method: 'POST',
    isShared: true,
    async answer(request) {
      const form = new Form(await readForm(request))
      const client = await authenticateClient(issuer, request.headers.get('authorization'), form)
      return Response.json((await reply(client, form)) ?? {})
    },
  })
  const discovery = document(() => discoveryOf(issuer))
  return new Map<string, Endpoint>([
    [PATHS.oauth, discovery],
    [PATHS.openid, discovery],
    [PATHS.jwks, document(() => issuer.keys.jwks)],
    [PATHS.authorize, { method: 'GET', isShared: false, answer: (request) => logins.show(request) }],
    [
      PATHS.consent,
      {
        method: 'POST',
        isShared: false,
        answer: async (request) => logins.take(request, await readForm(request)),
      },
    ],
    [PATHS.token, service((client, form) => exchange(issuer, client, form))],
    [PATHS.revoke, service((client, form) => revoke(issuer, client, form))],
    [PATHS.introspect, service((client, form) => introspect(issuer, client, form))],
    [
      PATHS.register,
      {
        method: 'POST',
        isShared: true,
        answer: async (request) =>
          Response.json(await issuer.clients.register(await readJson(request)), { status: 201 }),
      },
    ],
  ])
}

async function readForm(request: Request): Promise<URLSearchParams> {
  if (typeOf(request) !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'the type of the body must be application/x-www-form-urlencoded')
  return new URLSearchParams(await request.text())
}

async function readJson(request: Request): Promise<unknown> {
  if (typeOf(request) !== 'application/json')
    throw new OAuthError('invalid_client_metadata', 'the type of the body must be application/json')
  return request.json().catch(() => undefined)
}

function typeOf({ headers }: Request): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
}
