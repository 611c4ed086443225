export { browser, type BrowserOptions, type LoginInfo, type OpenPage } from './auth/client/browser.ts'
export { clientCredentials, type ClientCredentialsOptions } from './auth/client/client-credentials.ts'
export type { ClientIdentity } from './auth/client/client-identity.ts'
export { defineAuth } from './auth/client/define-auth.ts'
export { enterprise, type EnterpriseOptions } from './auth/client/enterprise.ts'
export { fileVault, type FileVaultOptions } from './auth/client/file-vault.ts'
export type { StepUp } from './auth/client/grant.ts'
export type { IdentityProvider } from './auth/client/identity-provider.ts'
export { keyringVault, type KeyringVaultOptions } from './auth/client/keyring-vault.ts'
export { memoryVault } from './auth/client/memory-vault.ts'
export type { LoggedOut } from './auth/client/logout.ts'
export type { LoginMethod, LogoutOptions, MethodOptions } from './auth/client/method.ts'
export type { PrivateJwk, PrivateKey, WebKey } from './auth/client/private-key.ts'
export { token, type TokenQuestion, type TokenSource } from './auth/client/token.ts'
export type {
  PendingLogin,
  StoredCredentials,
  StoredRegistration,
  StoredTokens,
  Vault,
} from './auth/client/vault.ts'
export { workload, type WorkloadOptions, type WorkloadTarget } from './auth/client/workload.ts'
export type { Algorithm } from './auth/jwt.ts'
export type {
  AuthReply,
  AuthRequest,
  AuthServer,
  Authorization,
  ClientAuth,
} from './transport/http/client/auth-method.ts'
