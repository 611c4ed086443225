import { badOption, checkOptions } from '../../base/options.ts'
import { listOf, object, required, TEXT, type KindsOf } from '../../base/kinds.ts'
import { SCOPE } from '../../rpc/scopes.ts'

/** Someone who can log in. */
export interface DevUser {
  /** The subject of the user's tokens. */
  readonly sub: string
  /** The name on the login page. Default: `sub`. */
  readonly name?: string | undefined
  /** The scopes that the user can give to clients. Default: all that a client asks for. */
  readonly scopes?: readonly string[] | undefined
  /** Further claims of the user's tokens, such as `{ tenant: 'acme' }`. Default: none. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

const USER: KindsOf<DevUser> = {
  sub: required({ must: 'a string of 1 to 255 characters', is: isSubject }),
  name: TEXT,
  scopes: listOf(SCOPE),
  claims: object(),
}

/** The claims that tokens have anyway. */
const OWN_CLAIMS = ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'scope', 'client_id', 'cnf']
const SUGGESTED: readonly DevUser[] = [
  { sub: 'alice', name: 'Alice' },
  { sub: 'bob', name: 'Bob' },
]

/** The users of a development server. */
export class Users {
  /** The users to choose from. */
  readonly listed: readonly DevUser[]
  /** Whether others can log in by typing a name. */
  readonly takesAnyone: boolean

  constructor(given: readonly (string | DevUser)[] | undefined) {
    this.takesAnyone = given === undefined
    this.listed = given?.map((user, at) => readUser(user, `devAuth users[${at}]`)) ?? SUGGESTED
    if (this.listed.length === 0) throw badOption('devAuth users', "name at least one, e.g. ['alice']")
    const subs = this.listed.map(({ sub }) => sub)
    const twice = subs.find((sub, at) => subs.indexOf(sub) !== at)
    if (twice !== undefined) throw badOption('devAuth users', `"${twice}" is listed twice`)
  }

  /** The user with a subject; undefined if there is none. */
  find(sub: string): DevUser | undefined {
    return (
      this.listed.find((user) => user.sub === sub) ??
      (this.takesAnyone && isSubject(sub) ? { sub } : undefined)
    )
  }
}

function readUser(given: string | DevUser, where: string): DevUser {
  const user = typeof given === 'string' ? { sub: given } : given
  checkOptions(where, user, USER)
  checkClaims(where, user.claims)
  return user
}

/** Rejects claims that would replace those that tokens need. */
export function checkClaims(where: string, claims: Readonly<Record<string, unknown>> = {}): void {
  const taken = Object.keys(claims).find((name) => OWN_CLAIMS.includes(name))
  if (taken !== undefined) throw badOption(where, `the claim "${taken}" is set by the server; remove it`)
}

function isSubject(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === value && value.length > 0 && value.length <= 255
}
