import { copyOf } from '../../../base/copy-of.ts'
import type { JsonObject, Message } from '../../../protocol/jsonrpc.ts'
import { AWAY } from '../../../errors/away.ts'
import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_ANSWER, HTTP_FAILED } from '../../../errors/client.ts'
import { INSUFFICIENT_SCOPE } from '../../../errors/server.ts'
import { fromErrorObject } from '../../../errors/remote.ts'
import type { OutgoingRequest } from '../../../rpc/client-transport.ts'
import type { ReadingOptions } from './answer.ts'
import { dropBody, readBody } from './body.ts'
import { mediaTypeOf, retryAfterOf } from './headers.ts'
import { answers, readReceived } from './message.ts'
import { parseUrl } from '../../../protocol/url.ts'

/** The largest error reply that is read. */
const MAX_ERROR_BYTES = 1_048_576
/** Statuses that call for something other than another message. */
const NO_ANSWER: ReadonlySet<number> = new Set([401, 403, 407, 429, 503])
/** Statuses of an overloaded server. */
const BUSY: ReadonlySet<number> = new Set([429, 503])

const LOGIN_HINT =
  "Log in: connect(url, { auth: browser() }) with import { browser } from 'pierhead/auth/client'. If auth is given already, the server rejects its credentials."
const TOKEN_HINT =
  'The server rejected the token that the client sent: it is wrong, expired, revoked, or meant for another server. Send another one.'

/** The hint for status 401: the line to add, unless the challenge says that there was a token. */
export function hintOf401(challenge: string | null | undefined): string {
  return /\berror="?invalid_token\b/.test(challenge ?? '') ? TOKEN_HINT : LOGIN_HINT
}

/** Requests whose failure shows what a server supports, so the status matters. */
const OPENING: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** The request that failed. A stream that was requested has no id. */
type Failed = Pick<OutgoingRequest, 'method'> & { readonly id: number | undefined }

/** Reads a reply with a bad status: returns the server's own error response, or throws ours. */
export async function readFailure(
  response: Response,
  outgoing: Failed,
  options: ReadingOptions,
): Promise<Message> {
  const answer = await readErrorBody(response, outgoing, options)
  if (answer !== undefined && !NO_ANSWER.has(response.status)) return answer
  throw toFailure(response, outgoing.method, answer)
}

async function readErrorBody(
  response: Response,
  { id }: Failed,
  { limits, signal, count }: ReadingOptions,
): Promise<Message | undefined> {
  if (mediaTypeOf(response.headers) !== 'application/json') {
    dropBody(response)
    return undefined
  }
  try {
    const text = await readBody(response, Math.min(limits.clientBytes, MAX_ERROR_BYTES), signal, count)
    const messages = text === undefined ? [] : readReceived(text, limits)
    return messages.find((message) => message.error !== undefined && answers(message, id))
  } catch (error) {
    if (signal.aborted) throw error
    dropBody(response)
    return undefined
  }
}

/** Converts a bad status to an error, with the data needed to react to it. */
export function toFailure(response: Response, method: string, answer?: Message): McpError {
  const { status, headers } = response
  const wwwAuthenticate = headers.get('www-authenticate')
  const reported = answer?.error === undefined ? undefined : fromErrorObject(answer.error)
  // The header has whole seconds.
  const retryAfterMs = reported?.retryAfterMs ?? retryAfterOf(headers)
  const data = {
    status,
    ...(wwwAuthenticate !== null && { wwwAuthenticate }),
    ...(answer?.error !== undefined && { error: answer.error }),
  }
  if (BUSY.has(status) && reported?.refusal !== undefined && !OPENING.has(method))
    return tooBusy(reported, status, retryAfterMs)
  if (status === 403) {
    const scopes = missingScopes(wwwAuthenticate ?? '', reported)
    if (scopes !== undefined) return lacksScopes(method, reported, { ...data, ...scopes })
  }
  const reason = reported === undefined ? remedyOf(response) : `: ${reported.message.slice(0, 512)}`
  return mcpError(
    HTTP_FAILED,
    { method, status, reason },
    {
      data,
      hint: hintOf(status, wwwAuthenticate),
      retryable: BUSY.has(status) || AWAY.has(status),
      refusal: reported?.refusal,
      retryAfterMs,
    },
  )
}

/** What to do about a status; for the others, the kind says it. */
function hintOf(status: number, wwwAuthenticate: string | null): string | undefined {
  if (status === 401) return hintOf401(wwwAuthenticate)
  if (status === 403) return 'Send credentials, or use a name in the option hosts of the server.'
  if (BUSY.has(status) || AWAY.has(status)) return 'Try again later.'
  return status >= 500 ? 'Look into the log of the server.' : undefined
}

/** The refusal of an overloaded server, as over every transport, with the data from the reply's head. */
function tooBusy(reported: McpError, status: number, retryAfterMs: number | undefined): McpError {
  const { kind, message, code, refusal, data } = reported
  return new McpError(kind, message, {
    code,
    data: Object.assign(copyOf(data ?? {}), { status }),
    retryable: true,
    refusal,
    retryAfterMs,
  })
}

interface Scopes {
  /** All that the request needs, if the server names them. */
  readonly scopes?: unknown
}

/** The scopes that a server asks for, in its error or, as RFC 6750 has it, in its challenge. */
function missingScopes(challenge: string, reported: McpError | undefined): Scopes | undefined {
  if (reported?.kind === INSUFFICIENT_SCOPE.kind) return { scopes: reported.data?.['scopes'] }
  if (!/\berror="?insufficient_scope\b/.test(challenge)) return undefined
  const named = /\bscope="([^"]{1,1024})"/.exec(challenge)?.[1]
  return named === undefined ? {} : { scopes: named.split(' ') }
}

/** The error of a caller that lacks scopes, as over every transport. */
function lacksScopes(method: string, reported: McpError | undefined, data: JsonObject & Scopes): McpError {
  const { kind, refusal } = INSUFFICIENT_SCOPE
  const named = Array.isArray(data.scopes) ? ` ${data.scopes.join(' ')}` : ''
  return new McpError(kind, reported?.message ?? `${method} needs more scopes${named}`, { data, refusal })
}

function remedyOf({ status, url }: Response): string {
  if (status === 401) return ': it needs a login, or other credentials'
  if (status === 403) return ': the server does not allow this caller to do it'
  if (status !== 404) return ''
  const place = url === '' ? 'this URL' : url.replace(/[?#].*/, '').slice(0, 256)
  return `: nothing is served at ${place}; MCP servers are usually at /mcp${likelyUrl(url)}`
}

/** The URL that was probably meant, unless it is the one that was used. */
function likelyUrl(url: string): string {
  if (url === '') return ''
  const { origin, pathname } = parseUrl(url)
  return pathname === '/mcp' ? '' : `: try ${origin}/mcp`
}

/** The error for a good status without a response. */
export function toUseless({ status, headers }: Response, method: string): McpError {
  const type = mediaTypeOf(headers)
  const shown = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(type) ? type : 'unknown'
  const issue =
    status === 200
      ? `its type is ${shown}, not JSON or an event stream`
      : `status ${status} comes without a response`
  return mcpError(BAD_ANSWER, { method, issue }, { data: { status } })
}
