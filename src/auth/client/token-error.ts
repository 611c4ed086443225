import {
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import { clip } from '../../base/clip.ts'
import { McpError } from '../../errors/error.ts'
import { oneLine } from '../../errors/printable.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import { LoginProblem } from './problem.ts'

/** The longest message; parts of it come from issuers. */
const MAX_MESSAGE = 1000
/** The longest description of an issuer that is repeated. */
const MAX_DESCRIPTION = 200

/** What to do about the errors of RFC 6749, 8693, 8707 and 9449. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['invalid_client', 'check clientId and the secret or key that belongs to it'],
  ['invalid_grant', 'what was sent has expired, was used before or is meant for another client or issuer'],
  ['unauthorized_client', 'the issuer must allow this client to get tokens in this way'],
  ['unsupported_grant_type', 'the issuer must allow this way to get tokens'],
  ['invalid_scope', 'check the option scopes'],
  ['invalid_target', 'the issuer does not know this server; register it there'],
  ['invalid_dpop_proof', 'check the clock of this machine'],
])

/** Says why an issuer gave no tokens. It contains no secrets, and its text is safe to print. */
export class TokenError extends LoginProblem {
  /** The error code of OAuth, such as `invalid_grant`; undefined if the issuer sent none. */
  readonly code: string | undefined
  /** The HTTP status; undefined if there was no reply. */
  readonly status: number | undefined

  constructor(
    message: string,
    { code, status, cause }: { code?: string | undefined; status?: number | undefined; cause?: unknown } = {},
  ) {
    super(oneLine(clip(message, MAX_MESSAGE)), cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
  }

  override get name(): string {
    return 'TokenError'
  }
}

/** A request for tokens that failed. */
export interface FailedRequest {
  /** The URL of the token endpoint. */
  readonly endpoint: string
  /** The secrets that were sent; the issuer may have put them into its reply. */
  readonly secrets: ReadonlySet<string>
}

/** The error to throw for what a request for tokens threw. Errors of oauth4webapi are never its cause: they contain the reply. */
export async function toTokenError(thrown: unknown, request: FailedRequest): Promise<Error> {
  const { endpoint } = request
  if (thrown instanceof TokenError || thrown instanceof McpError) return thrown
  if (thrown instanceof ResponseBodyError) return rejection(thrown.cause, thrown.status, request)
  if (thrown instanceof WWWAuthenticateChallengeError) {
    const body: unknown = await thrown.response.json().catch(() => undefined)
    return rejection(body, thrown.response.status, request)
  }
  if (thrown instanceof OperationProcessingError && thrown.cause instanceof Response) {
    const { status } = thrown.cause
    const replied = status === 200 ? 'something other than JSON' : `status ${status}`
    return new TokenError(`${endpoint} replied with ${replied}`, { status })
  }
  if (thrown instanceof OperationProcessingError || thrown instanceof UnsupportedOperationError)
    return new TokenError(`${endpoint} cannot be used, or its reply cannot: ${thrown.message}`)
  return new TokenError(`${endpoint} cannot be reached: ${reasonsOf(thrown).join(': ')}`, { cause: thrown })
}

/** The messages of an error and its cause: `fetch` alone says only that it failed. */
function reasonsOf(thrown: unknown): readonly string[] {
  if (!(thrown instanceof Error)) return []
  return [thrown.message, ...(thrown.cause instanceof Error ? [thrown.cause.message] : [])]
}

function rejection(body: unknown, status: number, request: FailedRequest): TokenError {
  const { error, error_description: description }: Record<string, unknown> = isObject(body) ? body : {}
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : undefined
  if (code === undefined)
    return new TokenError(`${request.endpoint} replied with status ${status}`, { status })
  const reason = typeof description === 'string' ? ` (${redact(description, request.secrets)})` : ''
  const advice = ADVICE.get(code)
  const remedy = advice === undefined ? '' : `; ${advice}`
  return new TokenError(`${request.endpoint} rejected the request with ${code}${reason}${remedy}`, {
    code,
    status,
  })
}

/** Removes the secrets that were sent, and everything that could be a part of one. */
function redact(description: string, secrets: ReadonlySet<string>): string {
  let text = description
  for (const secret of secrets) text = text.replaceAll(secret, '…')
  return clip(text.replace(/[\w-]{32,}/g, '…'), MAX_DESCRIPTION)
}
