import { type Duration, toMs } from '../base/duration.ts'
import { DURATION, required, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Asker, AuthMethod, Rejected, Verdict } from '../transport/http/server/auth-method.ts'
import { basicCredentials } from './basic.ts'
import { readClaims, reject } from './claims.ts'
import { createDiscovery, type Discovery } from './discovery.ts'
import { fetchObject, IssuerError, type IssuerRequest } from './issuer-fetch.ts'
import { KnownTokens, type Kept } from './known-tokens.ts'
import { createMethod } from './method.ts'
import { Questions } from './questions.ts'
import {
  NAME,
  readTokenOptions,
  TOKEN_OPTIONS,
  type TokenOptions,
  type TokenSettings,
} from './token-options.ts'
import { ENDPOINT, ISSUER } from './urls.ts'

/** The number of tokens that the issuer is asked about at the same time: up to 64 for one address, and as many again that are known, up to 64 for one account. */
const LIMITS = { unknown: 256, known: 256, perToken: 1024, lostMs: 30_000 }
/** The longest token that the issuer is asked about. */
const MAX_LENGTH = 32_768

/** How long a rejection is remembered: clients try again and again, and the issuer need not be asked each time. */
const REJECTED_MS = 5000
const MAX_REJECTED = 1000
const MAX_REJECTED_CHARACTERS = 1_048_576

/** A token that the issuer rejected. */
interface Remembered extends Kept {
  readonly rejected: Rejected
  readonly until: number
}

const UNKNOWN: Asker = { isKnown: false, sender: undefined }

/** Options of `introspection`. */
export interface IntrospectionOptions extends TokenOptions {
  /** The URL of the authorization server, exactly as in its metadata. */
  readonly issuer: string
  /** The URL at which it answers questions about tokens (RFC 7662). Default: from its metadata, which is discovered. */
  readonly endpoint?: string | undefined
  /** The id under which the issuer knows this server. */
  readonly clientId: string
  /** The secret of this server at the issuer. */
  readonly clientSecret: string
  /**
   * How long an answer is used. A revoked token is rejected after this time at the latest. While the issuer does not answer, requests
   * get 503 after this time, and open streams end five minutes later. Default: `'60s'`.
   */
  readonly recheck?: Duration | undefined
}

const INTROSPECTION_OPTIONS: KindsOf<IntrospectionOptions> = {
  ...TOKEN_OPTIONS,
  issuer: required(ISSUER),
  endpoint: ENDPOINT,
  clientId: required(NAME),
  clientSecret: required(NAME),
  recheck: DURATION,
}

/**
 * Accepts access tokens that the authorization server confirms when asked (RFC 7662): tokens of any form, and revoked tokens are
 * rejected soon. Every token that no method before it knows is sent to the authorization server, so it comes last in a list.
 * @example
 * const auth = introspection({ issuer, clientId, clientSecret, resource: 'https://mcp.example/mcp' })
 */
export function introspection(options: IntrospectionOptions): AuthMethod {
  checkOptions<IntrospectionOptions>('introspection', options, INTROSPECTION_OPTIONS)
  const { issuer, endpoint } = options
  const recheckMs = toMs(options.recheck ?? '60s', 'introspection recheck')
  const settings = readTokenOptions('introspection', options)
  const discovery = createDiscovery(issuer)
  const questions = new Questions<Verdict>(LIMITS)
  const rejections = new KnownTokens<Remembered>(MAX_REJECTED, MAX_REJECTED_CHARACTERS)

  const ask = async (token: string, rules: TokenSettings): Promise<Verdict> => {
    try {
      const url = endpoint ?? (await discovery.urlOf('introspection_endpoint'))
      const now = Date.now()
      const claims = await fetchObject(url, await questionOf(token, options, discovery))
      if (claims['active'] !== true) return reject('revoked', 'it is not active')
      const verdict = readClaims(claims, { ...rules, issuer })
      return 'rejected' in verdict ? verdict : { ...verdict, recheckAt: now + recheckMs }
    } catch (thrown) {
      discovery.noteFailure(thrown)
      return reject('unavailable', 'its issuer cannot be reached now', explain(thrown))
    }
  }
  const create = (rules: TokenSettings): AuthMethod =>
    createMethod({
      name: 'introspection',
      issuers: [issuer],
      verify(token, asker = UNKNOWN) {
        if (token.length > MAX_LENGTH) return undefined
        // The answer depends on the URL that the token must be meant for.
        const question = `${rules.parts.resource} ${token}`
        const remembered = rejections.get(question)
        if (remembered !== undefined && Date.now() < remembered.until) return remembered.rejected
        const answer = questions.ask(question, asker, async () => {
          const verdict = await ask(token, rules)
          if ('rejected' in verdict && isLasting(verdict))
            rejections.set(question, { rejected: verdict, until: Date.now() + REJECTED_MS, isKept: false })
          return verdict
        })
        return answer ?? reject('unavailable', 'too many tokens are being verified')
      },
      at: (url) => create(rules.at(url)),
      ...rules.parts,
    })
  return create(settings)
}

/** The question, with the credentials of this server in the way that the issuer accepts. */
async function questionOf(
  token: string,
  { clientId, clientSecret, endpoint }: IntrospectionOptions,
  discovery: Discovery,
): Promise<IssuerRequest> {
  const methods =
    endpoint === undefined
      ? await discovery.wordsOf('introspection_endpoint_auth_methods_supported')
      : undefined
  const inBody = methods?.includes('client_secret_basic') === false && methods.includes('client_secret_post')
  const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
  if (inBody) {
    body.set('client_id', clientId)
    body.set('client_secret', clientSecret)
  }
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(inBody ? {} : { authorization: basicCredentials(clientId, clientSecret) }),
    },
    body: body.toString(),
  }
}

/** The statuses with which an issuer refuses a question because of the token in it. */
const UNFIT: ReadonlySet<number | undefined> = new Set([400, 413, 414, 422, 431])

/** Whether the same question would have the same answer a moment later. */
function isLasting({ rejected, cause }: Rejected): boolean {
  return rejected !== 'unavailable' || (cause instanceof IssuerError && UNFIT.has(cause.status))
}

function explain(thrown: unknown): unknown {
  const isRefused = thrown instanceof IssuerError && (thrown.status === 401 || thrown.status === 403)
  return isRefused
    ? new IssuerError(`${thrown.message}: it does not accept clientId and clientSecret`, { cause: thrown })
    : thrown
}
