export { devAuth, type DevAuth, type DevAuthOptions, type DevTokenOptions } from './auth/dev/dev-auth.ts'
export type { Decision } from './auth/dev/authorize.ts'
export type { DevClient, DevKeys } from './auth/dev/services.ts'
export type { DevUser } from './auth/dev/users.ts'
