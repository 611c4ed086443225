import { required, type KindsOf } from '../../base/kinds.ts'
import { placeOfHost } from '../../base/places.ts'
import { ENDPOINT, ISSUER } from '../urls.ts'
import { CLIENT_IDENTITY, type ClientIdentity } from './client-identity.ts'
import type { GrantContext } from './grant.ts'
import { findIssuer } from './issuer.ts'
import { LoginProblem } from './problem.ts'
import { TokenError } from './token-error.ts'
import type { TokenContext } from './token-request.ts'
import { parseUrl } from '../../protocol/url.ts'

/** The identity provider of a company, and this client there. */
export interface IdentityProvider extends ClientIdentity {
  /** The URL of the identity provider, exactly as in its metadata. */
  readonly issuer: string
  /** The URL at which it exchanges tokens. Default: from its metadata, which is discovered. */
  readonly tokenEndpoint?: string | undefined
}

export const IDENTITY_PROVIDER: KindsOf<IdentityProvider> = {
  ...CLIENT_IDENTITY,
  issuer: required(ISSUER),
  tokenEndpoint: ENDPOINT,
}

/** Prepares requests to an identity provider. The program chose it, so its own address decides what is allowed there. */
export async function openProvider(
  { issuer, tokenEndpoint }: IdentityProvider,
  { fetch, fetchFor, signal, step }: GrantContext,
): Promise<TokenContext> {
  const url = parseUrl(issuer)
  const send = fetchFor?.(url) ?? fetch
  const context: Omit<TokenContext, 'issuer'> = {
    dpop: undefined,
    fetch: (input, init) => send(input, { signal, ...init }),
    allowsHttp: placeOfHost(url.hostname) === 'loopback',
    signal,
    step,
  }
  if (tokenEndpoint !== undefined) return { ...context, issuer: { issuer, token_endpoint: tokenEndpoint } }
  try {
    return { ...context, issuer: await findIssuer({ ...context, issuer, isLegacy: false, needsPkce: false }) }
  } catch (thrown) {
    signal.throwIfAborted()
    if (!(thrown instanceof LoginProblem)) throw thrown
    throw new TokenError(`${thrown.message}; check issuer, or name the tokenEndpoint of the provider`)
  }
}
