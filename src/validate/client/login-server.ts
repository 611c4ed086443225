import { parseUrl, isUrl } from '../../protocol/url.ts'
import { isObject, parsed, type Message } from '../message.ts'
import type { HttpExchange } from './http-exchange.ts'
import type { Visit } from './visit.ts'

/** How a protected server and its authorization server differ from the usual ones. */
export interface LoginPlan {
  /** The path of the metadata that the challenge names; `false` names none. Default: the well-known address. */
  readonly named?: string | false | undefined
  /** The paths at which the metadata of the server are. Default: the well-known address for `/mcp`. */
  readonly documents?: readonly string[] | undefined
  /** Changes the metadata of the server. */
  document?(usual: Message): Message
  /** The scopes that the challenge names. */
  readonly scope?: string | undefined
  /** The path of the issuer. Default: none. */
  readonly path?: string | undefined
  /** Which of its well-known addresses has the metadata of the issuer, from 0; -1 is none. Default: the first. */
  readonly place?: number | undefined
  /** Changes the metadata of the issuer. */
  metadata?(usual: Message): Message
  /** Whether the server itself is the issuer, as at 2025-03-26. */
  readonly isOwn?: boolean | undefined
  /** How clients that register must use the secret that they get. Default: they get none. */
  readonly secret?: 'client_secret_basic' | 'client_secret_post' | undefined
  /** Changes the parameters with which the browser is sent back. */
  redirect?(answer: URLSearchParams, issuer: string): void
  /** The scope that calls of tools need. */
  readonly callScope?: string | undefined
  /** Whether no token ever has that scope, so that calls stay refused. */
  readonly isNever?: boolean | undefined
  /** Whether requests for tools are redirected to the site beside the server. */
  readonly redirects?: boolean | undefined
  /** The path of the issuer after the first call of a tool; its earlier tokens are then invalid. */
  readonly movesTo?: string | undefined
}

/** A request that belongs to a login. */
export interface LoginStep {
  readonly what: 'document' | 'metadata' | 'register' | 'authorize' | 'token'
  /** The path, without the query. */
  readonly path: string
  /** The path of the issuer. */
  readonly issuer: string
  /** The parameters: of the query for `authorize`, otherwise of the body. */
  readonly params: URLSearchParams
  /** The body, if it is a JSON object. */
  readonly body: Message
  readonly authorization: string | undefined
  readonly at: number
}

interface Token {
  readonly issuer: string
  readonly scopes: readonly string[]
}

export const RESOURCE_WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** The most times that a client may log in during a visit. */
const MOST_LOGINS = 8
const NOTE = 'login'

/** The login server of a visit. */
export function loginOf(visit: Visit): LoginServer {
  const found = visit.notes.get(NOTE)
  if (found instanceof LoginServer) return found
  throw new Error('the scenario has no login')
}

/** The well-known addresses for the metadata of an issuer, in the order of the specification. */
export function metadataPlaces(path: string): readonly string[] {
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `/.well-known/${name}${path}`,
  )
  return path === '' ? inserted : [...inserted, `${path}/.well-known/openid-configuration`]
}

/**
 * A server that needs tokens, and the authorization server that issues them. It forgives as the usual server does: every login succeeds, and
 * what the client sent is kept for the rules.
 */
export class LoginServer {
  readonly steps: LoginStep[] = []
  /** The places at which requests with a valid token were accepted. */
  readonly accepted: number[] = []
  /** The client ids that registrations got, with their issuers. */
  readonly clients: Map<string, string> = new Map()
  readonly tokens: Map<string, Token> = new Map()
  readonly plan: LoginPlan
  readonly #visit: Visit
  readonly #codes = new Map<string, Token>()
  #path: string
  #count = 0

  constructor(plan: LoginPlan, visit: Visit) {
    this.plan = plan
    this.#visit = visit
    this.#path = plan.path ?? ''
    visit.notes.set(NOTE, this)
  }

  get #serverOrigin(): string {
    return parseUrl(this.#visit.url).origin
  }

  /** The origin of the issuer: the server itself, or the site beside it. */
  get #origin(): string {
    return this.plan.isOwn === true ? this.#serverOrigin : this.#visit.site
  }

  /** The identifier of the issuer that the server names now. */
  get issuer(): string {
    return this.#origin + this.#path
  }

  /** The requests of one kind. */
  all(what: LoginStep['what']): readonly LoginStep[] {
    return this.steps.filter((step) => step.what === what)
  }

  /** Handles a request to the protected server. `false` leaves it to the usual server. */
  onServer(exchange: HttpExchange): boolean {
    const path = pathOf(exchange)
    if (path === '/mcp') return this.#guard(exchange)
    const documents = this.plan.documents ?? [`${RESOURCE_WELL_KNOWN}/mcp`]
    if (path.startsWith(RESOURCE_WELL_KNOWN) || documents.includes(path)) {
      this.#note('document', exchange)
      if (this.plan.isOwn === true || !documents.includes(path)) exchange.answer(404)
      else exchange.answer(200, JSON.stringify(this.#document()))
      return true
    }
    return this.plan.isOwn === true && this.onIssuer(exchange)
  }

  /** Handles a request to the authorization server. */
  onIssuer(exchange: HttpExchange): boolean {
    const path = pathOf(exchange)
    if (path.includes('/.well-known/')) this.#metadata(exchange, path)
    else if (path.endsWith('/register')) this.#register(exchange, path)
    else if (path.endsWith('/authorize')) this.#authorize(exchange, path)
    else if (path.endsWith('/token')) this.#token(exchange, path)
    else exchange.answer(404)
    return true
  }

  #note(what: LoginStep['what'], exchange: HttpExchange, path = pathOf(exchange)): LoginStep {
    const { http, text, value, at } = exchange.seen
    const body = value ?? parsed(text)
    const query = what === 'authorize' ? http.path.split('?')[1] : text
    const step: LoginStep = {
      what,
      path,
      issuer: path.replace(/\/(?:oauth\/)?(?:register|authorize|token)$/, ''),
      params: new URLSearchParams(isObject(body) ? '' : (query ?? '')),
      body: isObject(body) ? body : {},
      authorization: http.headers['authorization'],
      at,
    }
    this.steps.push(step)
    return step
  }

  /** Lets requests with a valid token pass. */
  #guard(exchange: HttpExchange): boolean {
    const { http, messages, at } = exchange.seen
    const text = /^Bearer +(\S+)$/i.exec(http.headers['authorization'] ?? '')?.[1]
    const token = text === undefined ? undefined : this.tokens.get(text)
    const isCall = messages.some(({ method }) => method === 'tools/call')
    if (token !== undefined && isCall && this.plan.movesTo !== undefined) this.#path = this.plan.movesTo
    if (token === undefined || token.issuer !== this.#path)
      this.#refuse(exchange, 401, {
        ...(text !== undefined && { error: 'invalid_token' }),
        scope: this.plan.scope,
      })
    else if (isCall && !this.#maySendCalls(token))
      this.#refuse(exchange, 403, { error: 'insufficient_scope', scope: this.#neededScope })
    else {
      this.accepted.push(at)
      const isList = messages.some(({ method }) => method === 'tools/list')
      if (!isList || this.plan.redirects !== true) return false
      exchange.answer(307, '', { location: `${this.#visit.site}/mcp` })
    }
    return true
  }

  #maySendCalls({ scopes }: Token): boolean {
    const { callScope, isNever } = this.plan
    return callScope === undefined || (isNever !== true && scopes.includes(callScope))
  }

  /** At 2026-07-28 clients keep the scopes that they have; before, a challenge names all. */
  get #neededScope(): string {
    const { scope, callScope = '' } = this.plan
    return this.#visit.isModern || scope === undefined ? callScope : `${scope} ${callScope}`
  }

  #refuse(
    exchange: HttpExchange,
    status: number,
    params: Readonly<{ [name: string]: string | undefined }>,
  ): void {
    const { named = `${RESOURCE_WELL_KNOWN}/mcp`, isOwn } = this.plan
    const all = {
      realm: 'validator',
      ...params,
      ...(named !== false && isOwn !== true && { resource_metadata: this.#serverOrigin + named }),
    }
    const texts = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}="${value}"`],
    )
    exchange.answer(status, '', { 'www-authenticate': `Bearer ${texts.join(', ')}` })
  }

  #document(): Message {
    const usual = { resource: this.#visit.url, authorization_servers: [this.issuer] }
    return this.plan.document?.(usual) ?? usual
  }

  #metadata(exchange: HttpExchange, path: string): void {
    this.#note('metadata', exchange)
    if (path !== metadataPlaces(this.#path)[this.plan.place ?? 0]) return exchange.answer(404)
    const { secret } = this.plan
    // Those of a login with defaults are at the root; others are elsewhere, so that only the metadata say where.
    const endpoints = `${this.issuer}/oauth`
    const usual: Message = {
      issuer: this.issuer,
      authorization_endpoint: `${endpoints}/authorize`,
      token_endpoint: `${endpoints}/token`,
      registration_endpoint: `${endpoints}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: [secret ?? 'none'],
      ...(path.includes('openid') && {
        jwks_uri: `${endpoints}/keys`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    }
    exchange.answer(200, JSON.stringify(this.plan.metadata?.(usual) ?? usual))
  }

  #register(exchange: HttpExchange, path: string): void {
    const { body, issuer } = this.#note('register', exchange, path)
    const { secret } = this.plan
    const id = `client-${++this.#count}`
    this.clients.set(id, issuer)
    const reply = {
      ...body,
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      token_endpoint_auth_method: secret ?? 'none',
      ...(secret !== undefined && { client_secret: `secret-of-${id}`, client_secret_expires_at: 0 }),
    }
    exchange.answer(201, JSON.stringify(reply))
  }

  /** Sends the browser back at once, as if a person had agreed. */
  #authorize(exchange: HttpExchange, path: string): void {
    const { params, issuer } = this.#note('authorize', exchange, path)
    const back = params.get('redirect_uri') ?? ''
    if (!isUrl(back)) return exchange.answer(400, '{"error":"invalid_request"}')
    const code = `code-${++this.#count}`
    const scopes = (params.get('scope') ?? this.plan.scope ?? '').split(' ').filter((one) => one !== '')
    this.#codes.set(code, { issuer, scopes })
    const answer = new URLSearchParams(
      this.all('authorize').length > MOST_LOGINS ? { error: 'access_denied' } : { code },
    )
    const state = params.get('state')
    if (state !== null) answer.set('state', state)
    this.plan.redirect?.(answer, this.#origin + issuer)
    const url = parseUrl(back)
    for (const [name, value] of answer) url.searchParams.set(name, value)
    exchange.answer(302, '', { location: url.href })
  }

  #token(exchange: HttpExchange, path: string): void {
    const { params } = this.#note('token', exchange, path)
    const granted = this.#codes.get(params.get('code') ?? '')
    if (granted === undefined) return exchange.answer(400, '{"error":"invalid_grant"}')
    const text = `validator-token-${++this.#count}`
    this.tokens.set(text, granted)
    const reply = {
      access_token: text,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `refresh-${text}`,
      ...(granted.scopes.length > 0 && { scope: granted.scopes.join(' ') }),
    }
    exchange.answer(200, JSON.stringify(reply), { 'cache-control': 'no-store' })
  }
}

function pathOf({ seen }: HttpExchange): string {
  return seen.http.path.split('?')[0] ?? ''
}
