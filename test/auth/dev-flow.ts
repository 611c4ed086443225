import { createHash, randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { devAuth, type DevAuth, type DevAuthOptions } from 'pierhead/auth/dev'

export const RESOURCE = 'http://127.0.0.1:3000/mcp'
export const REDIRECT = 'http://127.0.0.1:4567/callback'

/** Starts `devAuth` for one test. */
export async function startDev(options?: DevAuthOptions): Promise<DevAuth> {
  const dev = await devAuth({ port: 0, ...options })
  onTestFinished(() => dev.close())
  return dev
}

/** Starts a server on a free port for one test. Returns its origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface JsonReply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function toReply(response: Response): Promise<JsonReply> {
  const body = (await response.json()) as Record<string, unknown>
  return { status: response.status, headers: response.headers, body }
}

export async function register(dev: DevAuth, metadata: object): Promise<JsonReply> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(metadata)
  return toReply(await fetch(`${dev.issuer}/register`, { method: 'POST', headers, body }))
}

/** Registers a public client. Returns its id. */
export async function newClient(dev: DevAuth, metadata: object = {}): Promise<string> {
  const defaults = { client_name: 'Test', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }
  const { body } = await register(dev, { ...defaults, ...metadata })
  return body['client_id'] as string
}

export async function post(
  dev: DevAuth,
  path: string,
  params: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonReply> {
  const body = new URLSearchParams(params)
  return toReply(await fetch(`${dev.issuer}${path}`, { method: 'POST', headers, body }))
}

/** One login of a client, of which each step can be changed. */
export class Flow {
  readonly verifier: string = randomBytes(32).toString('base64url')
  readonly #dev: DevAuth
  readonly clientId: string

  constructor(dev: DevAuth, clientId: string) {
    this.#dev = dev
    this.clientId = clientId
  }

  /** The URL that the client opens. A parameter with the value undefined is left out. */
  url(changes: Readonly<Record<string, string | undefined>> = {}): string {
    const params = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: REDIRECT,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: RESOURCE,
      scope: 'read write',
      state: 'abc',
      ...changes,
    }
    const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return `${this.#dev.issuer}/authorize?${new URLSearchParams(given)}`
  }

  /** Logs in without the page. Returns the parameters of the redirect. */
  async login(changes: Readonly<Record<string, string | undefined>> = {}): Promise<URLSearchParams> {
    return new URL(await this.#dev.login(this.url(changes), { sub: 'alice' })).searchParams
  }

  async code(changes: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
    return (await this.login(changes)).get('code') as string
  }

  exchange(code: string, changes: Readonly<Record<string, string>> = {}): Promise<JsonReply> {
    const params = {
      grant_type: 'authorization_code',
      code,
      client_id: this.clientId,
      redirect_uri: REDIRECT,
      code_verifier: this.verifier,
      resource: RESOURCE,
    }
    return post(this.#dev, '/token', { ...params, ...changes })
  }

  refresh(token: unknown, changes: Readonly<Record<string, string>> = {}): Promise<JsonReply> {
    const params = { grant_type: 'refresh_token', refresh_token: String(token), client_id: this.clientId }
    return post(this.#dev, '/token', { ...params, resource: RESOURCE, ...changes })
  }

  /** Whether the MCP server would accept an access token. */
  async isActive(token: unknown): Promise<boolean> {
    return (await introspect(this.#dev, token)).body['active'] === true
  }
}

/** Asks about a token, as the MCP server can. */
export function introspect(dev: DevAuth, token: unknown): Promise<JsonReply> {
  const { clientId, clientSecret } = dev.credentials
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
  return post(dev, '/introspect', { token: String(token) }, { authorization })
}

/** The login page of a client as a browser without scripts sees it. */
export interface Page {
  readonly response: Response
  readonly text: string
  readonly ticket: string
  readonly cookie: string
}

export async function openPage(url: string): Promise<Page> {
  const response = await fetch(url, { redirect: 'manual' })
  const text = await response.text()
  const [, ticket = ''] = /name="ticket" value="([^"]*)"/.exec(text) ?? []
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  return { response, text, ticket, cookie }
}

/** Sends the form of the login page. */
export function sendForm(
  dev: DevAuth,
  { ticket, cookie }: Pick<Page, 'ticket' | 'cookie'>,
  fields: readonly (readonly [string, string])[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new URLSearchParams([['ticket', ticket], ...fields.map((field) => [...field])])
  return fetch(`${dev.issuer}/consent`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: dev.issuer, ...headers },
    body,
  })
}
