import type { IncomingHttpHeaders } from 'node:http'
import type { AuthorizationServer, DPoPHandle } from 'oauth4webapi'
import type { GrantContext } from '../../src/auth/client/grant.ts'
import type { SmallIssuer } from '../auth/small-issuer.ts'

export const SERVER = 'https://mcp.example/mcp'

/** A context in which a grant runs, and what the grant did. */
export interface Tried extends GrantContext {
  readonly steps: string[]
  /** The requests that it sent. */
  readonly sent: SentRequest[]
}

export interface SentRequest {
  readonly url: string
  readonly headers: Headers
  readonly form: URLSearchParams
}

/** Creates a context for an issuer on loopback. */
export function contextOf(
  issuer: AuthorizationServer,
  {
    scopes,
    dpop,
    resource = SERVER,
    ...more
  }: { scopes?: readonly string[]; dpop?: DPoPHandle } & Partial<GrantContext> = {},
): Tried {
  const steps: string[] = []
  const sent: SentRequest[] = []
  return {
    server: new URL(SERVER),
    resource,
    issuer,
    scopes,
    registration: undefined,
    dpop,
    allowsHttp: true,
    signal: new AbortController().signal,
    step: (text) => void steps.push(text),
    fetch: (input, init) => {
      const form = init?.body instanceof URLSearchParams ? init.body : new URLSearchParams()
      sent.push({
        url: new Request(input).url,
        headers: new Headers(init?.headers),
        form: new URLSearchParams(form),
      })
      return fetch(input, init)
    },
    steps,
    sent,
    ...more,
  }
}

/** A request for tokens as an issuer received it. */
export interface Asked {
  readonly form: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** What an issuer replies to a request for tokens. */
export interface Told {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object | string
}

/** Gives a small issuer a token endpoint; returns the metadata of the issuer and the requests that arrive. */
export function serveTokens(
  issuer: SmallIssuer,
  reply: (asked: Asked) => Told | Promise<Told>,
  metadata: Partial<AuthorizationServer> = {},
): { readonly metadata: AuthorizationServer; readonly asked: readonly Asked[] } {
  const asked: Asked[] = []
  issuer.instead.set('/token', (request, response) => {
    void (async () => {
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) text += chunk as string
      const one = { form: new URLSearchParams(text), headers: request.headers }
      asked.push(one)
      const { status = 200, headers = {}, body } = await reply(one)
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body))
    })()
  })
  return { metadata: { issuer: issuer.url, token_endpoint: `${issuer.url}/token`, ...metadata }, asked }
}

/** Everything that an error says, with its causes and its other members. */
export function everythingOf(thrown: unknown): string {
  const seen: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause) {
    seen.push(error.message, error.stack ?? '', JSON.stringify(error))
    if (!(error.cause instanceof Error)) seen.push(JSON.stringify(error.cause) ?? '')
  }
  return seen.join('\n')
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (outcome instanceof Error) return outcome
  throw new Error('it did not fail')
}
