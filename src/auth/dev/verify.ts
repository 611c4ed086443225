import { createLocalJWKSet } from 'jose'
import type { Presented, Rejected, Verdict } from '../../transport/http/server/auth-method.ts'
import { reject } from '../claims.ts'
import { verifyJwt, type JwtRules } from '../jwt.ts'
import { isRevoked, type Issuer } from './issuer.ts'

/** After this time, streams notice that their token was revoked. */
const RECHECK_MS = 5_000
const REVOKED = reject('revoked', 'it was revoked')
const NOT_BOUND = reject('invalid', 'it is not bound to a key; send it as a bearer token')

/** Verifies a token as `oauth` does, with the keys of the issuer in this process. It may also be meant for another URL of the server. */
export async function verify(
  issuer: Issuer,
  token: string,
  ...others: readonly string[]
): Promise<Verdict | undefined> {
  const keys = createLocalJWKSet({ keys: [...issuer.keys.jwks.keys] })
  const rules: JwtRules = {
    issuer: issuer.url,
    audience: [issuer.resource(), ...others],
    keys: { find: (header) => keys(header) },
    algorithms: ['ES256'],
    strictType: true,
    skewMs: 0,
    /** Accepted tokens are kept, so each request asks whether its token was revoked in the meantime. */
    bind(claims) {
      const check = ({ scheme }: Presented): Rejected | undefined => {
        if (isRevoked(issuer, claims)) return REVOKED
        return scheme === 'bearer' ? undefined : NOT_BOUND
      }
      return isRevoked(issuer, claims) ? REVOKED : check
    },
  }
  const verdict = await verifyJwt(token, (name) => (name === issuer.url ? rules : undefined))
  if (verdict === undefined || 'rejected' in verdict) return verdict
  return { ...verdict, recheckAt: Date.now() + RECHECK_MS }
}
