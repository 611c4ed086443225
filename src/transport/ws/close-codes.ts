import type { LeaseEnd } from '../../rpc/leases.ts'

/** The close codes used here: those of RFC 6455, and our own from 4000 on. */
export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  notText: 1003,
  policy: 1008,
  tooLarge: 1009,
  /** The session goes on at another node. */
  moved: 1012,
  tryLater: 1013,
  replaced: 4001,
  unauthorized: 4401,
} as const

/** Why a server gives up a client. */
export type Refusal = 'invalid' | 'evicted' | LeaseEnd

export const REFUSALS: Readonly<Record<Refusal, readonly [code: number, reason: string]>> = {
  invalid: [CLOSE.policy, 'too many invalid messages'],
  evicted: [CLOSE.tryLater, 'the server needs the memory that the session takes'],
  expired: [CLOSE.unauthorized, 'the token or certificate has expired; connect with a new one'],
  revoked: [CLOSE.unauthorized, 'the token or certificate is no longer accepted'],
  changed: [CLOSE.tryLater, 'the caller or its scopes changed; connect again'],
  unavailable: [CLOSE.tryLater, 'the token cannot be checked now; connect again later'],
}
