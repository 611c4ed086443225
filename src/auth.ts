export { apiKeys, createApiKey, digestApiKey, type ApiKeyOptions, type KeyOwner } from './auth/api-keys.ts'
export { bearer, type BearerOptions, type VerifyToken } from './auth/bearer.ts'
export { introspection, type IntrospectionOptions } from './auth/introspection.ts'
export type { Algorithm } from './auth/jwt.ts'
export { oauth, type OAuthIssuer, type OAuthOptions } from './auth/oauth.ts'
export { allowKeys, createKeys, pinKey } from './auth/key-pairs.ts'
export type { CommonAuthOptions } from './auth/options.ts'
export type { ScopeHierarchy } from './auth/scopes.ts'
export type { AllowedKeys, AllowKeysOptions, PinnedKey } from './keys/options.ts'
export type { KeyPair } from './rpc/client-keys.ts'
export type { DpopOptions, TokenOptions } from './auth/token-options.ts'
export type {
  Accepted,
  Asker,
  AuthMethod,
  Presented,
  Rejected,
  Rejection,
  Verdict,
} from './transport/http/server/auth-method.ts'
export type { Gate, GateHost } from './keys/gate.ts'
