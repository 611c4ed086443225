import { createHash, randomBytes } from 'node:crypto'
import type { Revision } from '../../src/protocol/revisions.ts'
import { isObject, parsed, type Message } from '../../src/validate/message.ts'
import type { ClientFault, LoginQuirk } from './client-fault.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const CALLBACK = 'http://127.0.0.1:1/callback'
const DOCUMENT = 'https://raw.example/client.json'
/** How often the client logs in for requests that are refused. */
const MOST_LOGINS = 4

interface Known {
  readonly id: string
  readonly secret?: string | undefined
  readonly method?: string | undefined
}

/** How the raw client logs in: by the rules, with one fault if there is one. */
export class RawLogin {
  token: string | undefined
  /** The address of the issuer that gave the token. */
  issuer: string | undefined
  readonly #url: URL
  readonly #revision: Revision
  readonly #fault: ClientFault | undefined
  readonly #clients = new Map<string, Known>()
  #scopes: readonly string[] = []
  #count = 0

  constructor(url: string, revision: Revision, fault: ClientFault | undefined) {
    this.#url = new URL(url)
    this.#revision = revision
    this.#fault = fault
  }

  has(quirk: LoginQuirk): boolean {
    return this.#fault?.login === quirk
  }

  get #isModern(): boolean {
    return this.#revision === '2026-07-28'
  }

  /** Logs in after a refusal. Returns whether the request is worth repeating. */
  async after(reply: Response): Promise<boolean> {
    const challenge = reply.headers.get('www-authenticate') ?? ''
    const isStep = reply.status === 403 && challenge.includes('insufficient_scope')
    if (reply.status !== 401 && !isStep) return false
    if (isStep && this.has('never steps up')) return false
    const most = this.has('steps up for ever') ? 20 : MOST_LOGINS
    if (this.#count++ >= most) return false
    await this.#logIn(challenge, isStep)
    return true
  }

  async #logIn(challenge: string, isStep: boolean): Promise<void> {
    const document = await this.#document(challenge)
    const resource = (document?.['resource'] ?? '') as string
    if (document !== undefined && !this.#url.href.startsWith(resource) && !this.has('accepts any resource'))
      throw new Error('the metadata are those of another server')
    const servers = document?.['authorization_servers']
    const issuer = Array.isArray(servers) ? String(servers[0]) : this.#url.origin
    const metadata = await this.#metadata(issuer, document === undefined)
    const known = await this.#client(issuer, metadata)
    const scopes = this.#chosen(challenge, document, metadata, isStep)
    const params: Record<string, string> = {
      response_type: 'code',
      client_id: known.id,
      redirect_uri: CALLBACK,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(document !== undefined && !this.has('leaves resource out') && { resource }),
    }
    const verifier = randomBytes(32).toString('base64url')
    this.#addChallenge(params, verifier)
    if (!this.has('has no state')) params['state'] = randomBytes(16).toString('base64url')
    const code = await this.#code(metadata, params, issuer)
    const body: Record<string, string> = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
      client_id: known.id,
      ...(!this.has('has no PKCE') && { code_verifier: this.has('has another verifier') ? 'x' : verifier }),
      ...(params['resource'] !== undefined &&
        !this.has('leaves resource out of the token request') && { resource }),
    }
    await this.#exchange(metadata, known, body)
    this.#scopes = scopes
    this.issuer = issuer
  }

  #addChallenge(params: Record<string, string>, verifier: string): void {
    if (this.has('has no PKCE')) return
    const isPlain = this.has('has plain PKCE')
    params['code_challenge'] = isPlain ? verifier : createHash('sha256').update(verifier).digest('base64url')
    params['code_challenge_method'] = isPlain ? 'plain' : 'S256'
  }

  /** The metadata of the server; undefined if it has none, as at 2025-03-26. */
  async #document(challenge: string): Promise<Message | undefined> {
    const named = /resource_metadata="([^"]+)"/.exec(challenge)?.[1]
    const own = [`${this.#url.origin}${WELL_KNOWN}${this.#url.pathname}`, this.#url.origin + WELL_KNOWN]
    if (this.has('asks the root first')) own.reverse()
    const isNamed = named !== undefined && !this.has('ignores the header')
    for (const place of isNamed ? [named] : own) {
      const found = await json(place)
      if (found !== undefined) return found
    }
    if (named !== undefined && !isNamed) return json(named)
    return undefined
  }

  async #metadata(issuer: string, isOwn: boolean): Promise<Message> {
    const { origin, pathname } = new URL(issuer)
    const path = pathname.replace(/\/$/, '')
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
    ]
    if (this.has('asks for OpenID first')) places.reverse()
    if (this.has('knows OAuth metadata only')) places.length = 1
    for (const place of this.has('ignores metadata') ? [] : places) {
      const found = await json(place)
      if (found === undefined) continue
      if (found['issuer'] !== issuer && !this.has('ignores the issuer of metadata') && !isOwn)
        throw new Error('the metadata are those of another issuer')
      const methods = found['code_challenge_methods_supported']
      const hasPkce = Array.isArray(methods) && methods.includes('S256')
      if (!hasPkce && this.#revision >= '2025-11-25' && !this.has('needs no PKCE'))
        throw new Error('the issuer has no PKCE')
      return found
    }
    if (!isOwn || this.has('needs metadata')) throw new Error('the issuer has no metadata')
    return {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
    }
  }

  async #client(issuer: string, metadata: Message): Promise<Known> {
    const takesDocuments = metadata['client_id_metadata_document_supported'] === true
    if ((takesDocuments && !this.has('always registers')) || this.has('always has a document'))
      return { id: DOCUMENT }
    const key = this.has('has one client id for all') ? 'all' : issuer
    const known = this.#clients.get(key)
    if (known !== undefined) return known
    const found = await json(String(metadata['registration_endpoint']), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'raw-client',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        ...(!this.has('has no application type') && { application_type: 'native' }),
      }),
    })
    const client: Known = {
      id: String(found?.['client_id']),
      secret: found?.['client_secret'] as string | undefined,
      method: found?.['token_endpoint_auth_method'] as string | undefined,
    }
    this.#clients.set(key, client)
    return client
  }

  #chosen(
    challenge: string,
    document: Message | undefined,
    metadata: Message,
    isStep: boolean,
  ): readonly string[] {
    const named = /\bscope="([^"]+)"/.exec(challenge)?.[1]?.split(' ')
    const supported = document?.['scopes_supported']
    const all = Array.isArray(supported) ? supported.map(String) : []
    const scopes = this.has('asks for all scopes') ? all : (named ?? all)
    const kept = isStep && this.#isModern && !this.has('gives up scopes') ? this.#scopes : []
    const offered = metadata['scopes_supported']
    const isOffered = Array.isArray(offered) && offered.includes('offline_access') && this.#isModern
    const asked = isStep && this.has('repeats its scopes') ? this.#scopes : [...kept, ...scopes]
    return [
      ...new Set([
        ...(this.has('asks for no scopes') ? [] : asked),
        ...(isOffered || this.has('always asks for offline_access') ? ['offline_access'] : []),
      ]),
    ]
  }

  /** Opens the login page, and returns the code of the answer. */
  async #code(metadata: Message, params: Record<string, string>, issuer: string): Promise<string> {
    const page = new URL(String(metadata['authorization_endpoint']))
    for (const [name, value] of Object.entries(params)) page.searchParams.set(name, value)
    const reply = await fetch(page, { redirect: 'manual' })
    await reply.body?.cancel()
    const answer = new URL(reply.headers.get('location') ?? '').searchParams
    if (answer.get('state') !== (params['state'] ?? null) && !this.has('ignores the state'))
      throw new Error('the answer belongs to another login')
    const iss = answer.get('iss')
    const isPromised = metadata['authorization_response_iss_parameter_supported'] === true
    if (iss === null && isPromised && this.#isModern && !this.has('needs no iss'))
      throw new Error('there is no iss')
    if (iss !== null && iss !== issuer && this.#isModern && !this.has('ignores iss'))
      throw new Error('the answer is of another issuer')
    if (iss !== null && this.has('refuses iss')) throw new Error('there is an iss')
    const code = answer.get('code')
    if (code === null) throw new Error('there is no code')
    return code
  }

  async #exchange(metadata: Message, known: Known, body: Record<string, string>): Promise<void> {
    const method = this.has('never sends secrets') ? 'none' : known.method
    const isBasic = method === 'client_secret_basic' && !this.has('has secrets in the body only')
    const isPost = !isBasic && known.secret !== undefined && method !== 'none'
    const found = await json(String(metadata['token_endpoint']), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(isBasic && {
          authorization: `Basic ${Buffer.from(`${known.id}:${String(known.secret)}`).toString('base64')}`,
        }),
      },
      body: new URLSearchParams({
        ...body,
        ...(isPost && { client_secret: String(known.secret) }),
      }).toString(),
    })
    this.token = String(found?.['access_token'])
    if (this.has('sends the token to the issuer'))
      await json(`${String(metadata['token_endpoint'])}/me`, {
        headers: { authorization: `Bearer ${this.token}` },
      })
  }
}

async function json(url: string, init: RequestInit = {}): Promise<Message | undefined> {
  const reply = await fetch(url, init)
  const value = parsed(await reply.text())
  return reply.ok && isObject(value) ? value : undefined
}
