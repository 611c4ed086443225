import { decodeJwt } from 'jose'
import type { AuthorizationServer } from 'oauth4webapi'
import { clip } from '../../base/clip.ts'
import { callable, required, type KindsOf } from '../../base/kinds.ts'
import { checkOptions } from '../../base/options.ts'
import { NAME } from '../token-options.ts'
import type { Grant } from './grant.ts'
import { createMethod, METHOD_OPTIONS, type LoginMethod, type MethodOptions } from './method.ts'
import { askFor } from './supplied-token.ts'
import { TokenError } from './token-error.ts'
import { JWT_BEARER, purposeOf, readTokens, requestGrant } from './token-request.ts'

/** Options of `workload`. The tokens belong to one workload, so do not share the vault between several. */
export interface WorkloadOptions extends MethodOptions {
  /**
   * Gives the identity that the platform issued to this workload, a JSON Web Token: reads the file of a Kubernetes service account, or asks a
   * cloud for one. Its audience must be the issuer, unless the option `issuer` names that. It is called for each new access token.
   */
  readonly jwt: (target: WorkloadTarget) => string | Promise<string>
  /** The id under which the issuer knows the client. Default: none, because the identity is enough for most issuers. */
  readonly clientId?: string | undefined
}

/** What the identity of a workload is needed for. */
export interface WorkloadTarget {
  /** The issuer that gets the identity, and should be its audience. */
  readonly issuer: string
  /** The server that the access token is for; undefined for servers that publish no name, unless the option `issuer` is set. */
  readonly resource: string | undefined
}

const WORKLOAD_OPTIONS: KindsOf<WorkloadOptions> = {
  ...METHOD_OPTIONS,
  jwt: required(callable('a function that returns the identity of the workload, a JSON Web Token')),
  clientId: NAME,
}

/**
 * Authenticates a workload with the identity that its platform gave it (Kubernetes, a cloud, SPIFFE, CI), without a secret of its own. An identity that
 * the issuer rejects is an error; nothing else is tried.
 * @example
 * const auth = workload({ jwt: () => readFile('/var/run/secrets/tokens/mcp', 'utf8') })
 * await connect(url, { auth })
 */
export function workload(options: WorkloadOptions): LoginMethod {
  checkOptions<WorkloadOptions>('workload', options, WORKLOAD_OPTIONS)
  return createMethod('workload', workloadGrant(options), options)
}

/** Gets tokens with the identity of a workload as the grant (RFC 7523, section 2.1). */
export function workloadGrant({
  jwt,
  clientId,
  issuer: trusted,
}: Pick<WorkloadOptions, 'jwt' | 'clientId' | 'issuer'>): Grant {
  return {
    name: 'workload identity',
    isInteractive: false,
    clientId,
    clientOf: () => ({ clientId }),
    async obtain(context) {
      const { issuer, resource, signal } = context
      context.step('ask the function of the option jwt for the identity of this workload')
      const ask = (): string | Promise<string> => jwt({ issuer: issuer.issuer, resource })
      const assertion = await askFor({ option: 'jwt', must: MUST, ask }, signal)
      const audience = audienceOf(assertion)
      if (trusted === undefined) checkAudience(audience, issuer)
      const purpose = purposeOf(context)
      const response = await requestGrant(context, { clientId }, JWT_BEARER, { assertion, ...purpose })
      // The next identity is as good as a refresh token, and the platform can withdraw it.
      return { tokens: { ...readTokens(response, context), refreshToken: undefined } }
    },
  }
}

const MUST = 'a JSON Web Token, the identity of this workload'

function audienceOf(assertion: string): readonly unknown[] {
  try {
    const { aud } = decodeJwt(assertion)
    return Array.isArray(aud) ? aud : [aud]
  } catch {
    throw new TokenError(`the function of the option jwt must return ${MUST}`)
  }
}

/** A server names its issuer. A hostile one must not get an identity that another issuer accepts. */
function checkAudience(
  audience: readonly unknown[],
  { issuer, token_endpoint: endpoint }: AuthorizationServer,
): void {
  const names = audience.filter((one) => typeof one === 'string')
  const isMeant = names.some((name) => withoutSlash(name) === withoutSlash(issuer) || name === endpoint)
  if (isMeant) return
  const others = names.length === 0 ? 'nobody' : clip(names.join(', '), 200)
  throw new TokenError(
    `the identity of this workload is for ${others} and is not sent to ${issuer}; ask the platform for one with that audience, or trust the issuer with the option issuer: '${issuer}'`,
  )
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
