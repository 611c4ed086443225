import type { KindsOf } from '../../base/kinds.ts'
import { badOption, checkOptions } from '../../base/options.ts'
import { CLIENT_IDENTITY, IDENTITY_ALIASES, readIdentity, type ClientIdentity } from './client-identity.ts'
import type { Grant } from './grant.ts'
import { createMethod, METHOD_OPTIONS, type LoginMethod, type MethodOptions } from './method.ts'
import { chooseAuthentication } from './token-endpoint.ts'
import { purposeOf, readTokens, requestGrant } from './token-request.ts'

/** Options of `clientCredentials`. A `clientSecret` needs the option `issuer`, so that a server cannot have it sent to another. */
export interface ClientCredentialsOptions extends MethodOptions, ClientIdentity {}

const CLIENT_CREDENTIALS_OPTIONS: KindsOf<ClientCredentialsOptions> = {
  ...METHOD_OPTIONS,
  ...CLIENT_IDENTITY,
}

/**
 * Authenticates a service with its own credentials, without a person: the client is registered at the issuer, and has a secret or a
 * private key.
 * @example
 * await connect(url, { auth: clientCredentials({ clientId, clientSecret, issuer: 'https://id.example' }) })
 * await connect(url, { auth: clientCredentials({ clientId, key: await readFile('key.pem', 'utf8') }) })
 */
export function clientCredentials(options: ClientCredentialsOptions): LoginMethod {
  checkOptions<ClientCredentialsOptions>(
    'clientCredentials',
    options,
    CLIENT_CREDENTIALS_OPTIONS,
    IDENTITY_ALIASES,
  )
  return createMethod('clientCredentials', clientCredentialsGrant(options), options)
}

/** Gets tokens with the credentials of the client alone (RFC 6749, section 4.4). */
export function clientCredentialsGrant(identity: ClientIdentity): Grant {
  if (identity.clientSecret === undefined && identity.key === undefined)
    throw badOption(
      'clientCredentials',
      'clientSecret or key is missing; the issuer gave one of them to this client',
    )
  const readClient = readIdentity('clientCredentials', identity)
  return {
    name: 'client credentials',
    isInteractive: false,
    clientId: identity.clientId,
    clientOf: readClient,
    async obtain(context) {
      const client = await readClient()
      // Without its credentials, the client would be nobody.
      chooseAuthentication(context.issuer, client, { isRequired: true })
      const response = await requestGrant(context, client, 'client_credentials', purposeOf(context))
      // The credentials get new tokens at any time.
      return { tokens: { ...readTokens(response, context), refreshToken: undefined } }
    },
  }
}
