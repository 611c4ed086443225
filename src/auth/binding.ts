import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Auth } from '../rpc/call.ts'
import type { Accepted, Rejected } from '../transport/http/server/auth-method.ts'
import { accountOf } from './account.ts'
import { reject } from './claims.ts'
import type { Proofs } from './dpop.ts'

/** Checks a request with a token. */
export type Confirm = NonNullable<Accepted['confirm']>

/** The members of `cnf` that can be checked. A token that is bound in another way as well could be stolen. */
const KNOWN = ['jkt', 'x5t#S256']

/** How tokens may be bound to their clients. */
export interface BindingRules {
  /** Verifies proofs; undefined if tokens that need them are rejected. */
  readonly proofs: Proofs | undefined
  /** Whether tokens that are not bound to a key are rejected. */
  readonly required: boolean
}

/**
 * Creates the check for requests with a token that is bound to a key (RFC 9449) or a certificate (RFC 8705); undefined if it is
 * bound to nothing.
 */
export function bind(
  claims: JsonObject,
  auth: Auth,
  { proofs, required }: BindingRules,
): Confirm | Rejected | undefined {
  const { cnf = {} } = claims
  if (!isObject(cnf) || Object.keys(cnf).some((name) => !KNOWN.includes(name)))
    return reject('invalid', 'it is bound in a way that this server does not know')
  const { jkt, 'x5t#S256': thumbprint } = cnf
  if (jkt === undefined && required) return reject('invalid', 'it is not bound to a key with DPoP')
  if (jkt !== undefined && proofs === undefined)
    return reject('invalid', 'it needs DPoP, which is turned off')
  if (jkt === undefined && thumbprint === undefined) return undefined
  const account = accountOf(auth)
  return (request) => {
    if (thumbprint !== undefined && thumbprint !== request.certificate)
      return reject('invalid', 'it is bound to another client certificate than that of the connection')
    if ((request.scheme === 'dpop') !== (jkt !== undefined)) return jkt === undefined ? UNBOUND : BOUND
    return jkt === undefined ? undefined : proofs?.confirm(request, jkt, account)
  }
}

const BOUND: Rejected = {
  rejected: 'invalid',
  why: 'it is bound to a key; send it with the scheme DPoP, with a proof',
}
const UNBOUND: Rejected = { rejected: 'invalid', why: 'it is not bound to a key; send it as a bearer token' }
