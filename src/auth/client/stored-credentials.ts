import { isObject } from '../../protocol/jsonrpc.ts'
import type { StoredCredentials } from './vault.ts'

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = (value) => typeof value === 'number'
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText)

const REGISTRATION: Readonly<Record<string, Test>> = {
  clientId: isText,
  clientSecret: optional(isText),
  authMethod: optional(isText),
  redirectUris: optional(isTexts),
  expiresAt: optional(isNumber),
}

const TOKENS: Readonly<Record<string, Test>> = {
  accessToken: isText,
  type: (value) => value === 'bearer' || value === 'dpop',
  refreshToken: optional(isText),
  scopes: optional(isTexts),
  denied: optional(isTexts),
  expiresAt: optional(isNumber),
}

const PENDING: Readonly<Record<string, Test>> = { id: isText, until: isNumber }

const CREDENTIALS: Readonly<Record<string, Test>> = {
  registration: optional((value) => fits(value, REGISTRATION)),
  tokens: optional((value) => fits(value, TOKENS)),
  lost: optional(isText),
  pending: optional((value) => fits(value, PENDING)),
  refused: optional(isText),
  dpopKey: optional((value) => isObject(value) && !Array.isArray(value)),
}

/** Whether a value that was read has the form of stored credentials. Members that are not known stay, for later versions. */
export function isStoredCredentials(value: unknown): value is StoredCredentials {
  return fits(value, CREDENTIALS)
}

function fits(value: unknown, members: Readonly<Record<string, Test>>): boolean {
  return isObject(value) && Object.entries(members).every(([name, test]) => test(value[name]))
}

function optional(test: Test): Test {
  return (value) => value === undefined || test(value)
}
