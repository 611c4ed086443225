import { required, TEXT, type Kind, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Authentication, AuthHost, AuthMethod } from '../transport/http/server/auth-method.ts'
import type { Revoked } from '../rpc/leases.ts'
import type { ServerService } from '../server/service.ts'

/** How callers are authenticated: a method of `pierhead/auth`, a list of methods, or `false` for not at all. */
export type AuthOption = AuthMethod | readonly AuthMethod[] | false

const METHODS = 'a method of pierhead/auth'

export const AUTH: Kind<AuthOption> = {
  must: `${METHODS}, a list of them, or false`,
  is: (value) =>
    value === false || isMethod(value) || (Array.isArray(value) && value.length > 0 && value.every(isMethod)),
  write(_, value) {
    if (typeof value === 'string') return 'to check a key, write auth: apiKeys({ digests })'
    if (typeof value === 'function') return `call it: ${callOf(value.name)}`
    if (value instanceof Promise) return 'it is a promise: write auth: await devAuth()'
    if (!Array.isArray(value)) return `write ${exampleFor(value)}`
    const wrong = value.findIndex((one) => !isMethod(one))
    return wrong < 0
      ? 'the list is empty; for no authentication, write false'
      : `element ${wrong + 1} is not ${METHODS}`
  },
}

const EXAMPLES: Readonly<Record<string, string>> = {
  oauth: 'auth: oauth({ issuer, resource })',
  apiKeys: 'auth: apiKeys({ digests })',
  introspection: 'auth: introspection({ issuer, clientId, clientSecret, resource })',
  bearer: 'auth: bearer(verify)',
  devAuth: 'auth: await devAuth()',
}

/** The correct call for a function that was passed without being called. A function of the user belongs in `bearer`. */
function callOf(name: string): string | undefined {
  return Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : EXAMPLES['bearer']
}

/** The method that an options object was probably meant for. */
function exampleFor(value: unknown): string | undefined {
  const names = Object.keys(value ?? {})
  if (names.includes('clientSecret')) return EXAMPLES['introspection']
  if (names.includes('issuer') || names.includes('resource')) return EXAMPLES['oauth']
  return EXAMPLES[names.includes('digests') ? 'apiKeys' : 'bearer']
}

/** Throws for methods that cannot be combined. */
export function checkAuth(where: string, auth: AuthOption | undefined): void {
  const methods = methodsOf(auth)
  const asking = methods.findIndex(({ name }) => name === 'introspection')
  if (asking >= 0 && asking < methods.length - 1) {
    const reason = 'introspection decides about every token, so the methods after it are never asked'
    throw badOption(where, `${reason}; put it last: auth: [oauth(…), introspection(…)]`)
  }
  const resources = new Set(methods.flatMap(({ resource }) => resource ?? []))
  if (resources.size <= 1) return
  const all = [...resources].join(', ')
  throw badOption(
    where,
    `the methods of auth have different resources (${all}); write the same for all of them`,
  )
}

function methodsOf(auth: AuthOption | undefined): readonly AuthMethod[] {
  return auth === undefined || auth === false ? [] : [auth].flat()
}

function isMethod(value: unknown): boolean {
  const method = (value ?? {}) as Partial<AuthMethod>
  return typeof value === 'object' && typeof method.open === 'function' && typeof method.verify === 'function'
}

/** Opens the methods of a listener or mount; undefined if it has none. */
export function openAuth(
  auth: AuthOption | undefined,
  service: ServerService,
  { path, verifyMs }: Pick<AuthHost, 'path' | 'verifyMs'>,
): Authentication | undefined {
  const methods = methodsOf(auth)
  const report: AuthHost['report'] = (level, text, facts) =>
    service.report(level === 'error' ? 'error' : 'warning', text, facts as JsonObject | undefined)
  return methods[0]?.open(methods, { path, verifyMs, leases: service.leases, report }) as
    | Authentication
    | undefined
}

const REVOKED: KindsOf<Revoked> = {
  sub: required(TEXT, `sub is missing; write revoke({ sub: 'ann' })`),
  issuer: TEXT,
}

/** Checks the argument of `app.revoke`. */
export function checkRevoked(caller: Revoked): void {
  checkOptions('revoke', caller, REVOKED)
}
