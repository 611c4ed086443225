import { callable, object, required, type KindsOf } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { readScopes } from '../../rpc/scopes.ts'
import { CLIENT_IDENTITY, IDENTITY_ALIASES, readIdentity, type ClientIdentity } from './client-identity.ts'
import type { Grant, GrantContext } from './grant.ts'
import { IDENTITY_PROVIDER, openProvider, type IdentityProvider } from './identity-provider.ts'
import { createMethod, METHOD_OPTIONS, type LoginMethod, type MethodOptions } from './method.ts'
import { askFor, type Supply } from './supplied-token.ts'
import { TokenError } from './token-error.ts'
import { isTokenText } from './token-text.ts'
import type { TokenClient } from './token-endpoint.ts'
import { JWT_BEARER, purposeOf, readTokens, requestGrant } from './token-request.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const TYPE = 'urn:ietf:params:oauth:token-type:'
const ID_JAG = `${TYPE}id-jag`

/**
 * Options of `enterprise`. `clientId` with `clientSecret` or `key` is the client at the issuer of the server, which `issuer` must name if there is a secret; `provider` has those at the identity
 * provider. The tokens belong to one user, so do not share the vault between users.
 */
export interface EnterpriseOptions extends MethodOptions, ClientIdentity {
  /** The identity provider of the company, where the user logged in, and this client there. */
  readonly provider: IdentityProvider
  /** Gives the ID token that the user got when logging in at the identity provider. Default: none; there is a `samlAssertion`. */
  readonly idToken?: (() => string | Promise<string>) | undefined
  /** Gives the SAML assertion that the user got when logging in, encoded as base64url. Default: none; there is an `idToken`. */
  readonly samlAssertion?: (() => string | Promise<string>) | undefined
}

const ENTERPRISE_OPTIONS: KindsOf<EnterpriseOptions> = {
  ...METHOD_OPTIONS,
  ...CLIENT_IDENTITY,
  provider: required(object('an object with issuer and clientId, the identity provider of the company')),
  idToken: callable('a function that returns the ID token of the user'),
  samlAssertion: callable('a function that returns the SAML assertion of the user'),
}

/**
 * Authenticates a user of a company without another login: the identity provider of the company decides which servers the user may
 * use, and gives the client an assertion for the issuer of the server (enterprise-managed authorization, ID-JAG).
 * @example
 * const provider = { issuer: 'https://sso.example', clientId: 'desktop-at-sso' }
 * const issuer = 'https://id.example'
 * const auth = enterprise({ clientId: 'desktop', clientSecret, issuer, provider, idToken: () => session.idToken })
 * await connect(url, { auth })
 */
export function enterprise(options: EnterpriseOptions): LoginMethod {
  checkOptions<EnterpriseOptions>('enterprise', options, ENTERPRISE_OPTIONS, IDENTITY_ALIASES)
  checkOptions<IdentityProvider>('enterprise provider', options.provider, IDENTITY_PROVIDER, IDENTITY_ALIASES)
  return createMethod('enterprise', enterpriseGrant(options), options)
}

/** Gets an assertion from the identity provider (RFC 8693), and tokens for it from the issuer of the server (RFC 7523). */
export function enterpriseGrant(
  options: ClientIdentity & Pick<EnterpriseOptions, 'provider' | 'idToken' | 'samlAssertion'>,
): Grant {
  const { provider, clientId } = options
  const subject = readSubject(options)
  const readClient = readIdentity('enterprise', options)
  const readOwn = readIdentity('enterprise provider', provider)
  return {
    name: 'enterprise-managed authorization',
    isInteractive: false,
    clientId,
    clientOf: readClient,
    async obtain(context) {
      const [client, own] = [await readClient(), await readOwn()]
      const { assertion, scope } = await exchange(context, provider, own, subject)
      const response = await requestGrant(context, client, JWT_BEARER, {
        assertion,
        ...purposeOf(context),
        ...(scope === undefined ? {} : { scope }),
      })
      const scopes = scope === undefined ? context.scopes : readScopes(scope)
      // The company decides anew about each access token.
      return { tokens: { ...readTokens(response, { ...context, scopes }), refreshToken: undefined } }
    },
  }
}

interface Subject extends Supply {
  readonly type: string
}

function readSubject({
  idToken,
  samlAssertion,
}: Pick<EnterpriseOptions, 'idToken' | 'samlAssertion'>): Subject {
  if (idToken !== undefined && samlAssertion !== undefined)
    throw badOption('enterprise', 'there are both idToken and samlAssertion; give one of them')
  if (idToken !== undefined)
    return { option: 'idToken', must: 'the ID token of the user', type: `${TYPE}id_token`, ask: idToken }
  if (samlAssertion === undefined)
    throw badOption(
      'enterprise',
      'idToken is missing; it must be a function that returns the ID token of the user',
    )
  const must = 'the SAML assertion of the user, encoded as base64url'
  return { option: 'samlAssertion', must, type: `${TYPE}saml2`, ask: samlAssertion }
}

/** Exchanges the identity of the user for an assertion that only the issuer of the server accepts. */
async function exchange(
  context: GrantContext,
  provider: IdentityProvider,
  own: TokenClient,
  subject: Subject,
): Promise<{ readonly assertion: string; readonly scope: string | undefined }> {
  const identity = await askFor(subject, context.signal)
  const there = await openProvider(provider, context)
  const parameters = {
    requested_token_type: ID_JAG,
    audience: context.issuer.issuer,
    subject_token: identity,
    subject_token_type: subject.type,
    ...purposeOf(context),
  }
  const response = await requestGrant(there, own, TOKEN_EXCHANGE, parameters, {
    recognizedTokenTypes: { n_a: () => {} },
  })
  const { access_token: assertion, scope, issued_token_type: type } = response
  if (type !== ID_JAG || !isTokenText(assertion))
    throw new TokenError(`${provider.issuer} gave something other than an assertion of the type ${ID_JAG}`)
  return { assertion, scope }
}
