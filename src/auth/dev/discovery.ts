import { ALGORITHMS } from '../jwt.ts'
import { AUTH_METHODS, GRANT_TYPES } from './clients.ts'
import type { Issuer } from './issuer.ts'

/** The paths of the authorization server. */
export const PATHS = {
  authorize: '/authorize',
  consent: '/consent',
  token: '/token',
  register: '/register',
  revoke: '/revoke',
  introspect: '/introspect',
  jwks: '/jwks',
  oauth: '/.well-known/oauth-authorization-server',
  openid: '/.well-known/openid-configuration',
} as const

const SECRETS: readonly string[] = AUTH_METHODS.filter((method) => method !== 'none')

/** The metadata of the authorization server, for RFC 8414 and OpenID Connect alike. */
export function discoveryOf({ url: issuer, services }: Pick<Issuer, 'url' | 'services'>): object {
  const methods = services.haveKeys ? [...AUTH_METHODS, 'private_key_jwt'] : AUTH_METHODS
  const algorithms = services.haveKeys ? ALGORITHMS : undefined
  return {
    issuer,
    authorization_endpoint: issuer + PATHS.authorize,
    token_endpoint: issuer + PATHS.token,
    registration_endpoint: issuer + PATHS.register,
    revocation_endpoint: issuer + PATHS.revoke,
    introspection_endpoint: issuer + PATHS.introspect,
    jwks_uri: issuer + PATHS.jwks,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: services.isEmpty ? GRANT_TYPES : [...GRANT_TYPES, 'client_credentials'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: SECRETS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
}
