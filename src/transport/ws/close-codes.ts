/** The close codes used here: those of RFC 6455, and our own from 4000 on. */
export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  notText: 1003,
  policy: 1008,
  tooLarge: 1009,
  tryLater: 1013,
  replaced: 4001,
} as const

/** Why a server gives up a client. */
export type Refusal = 'invalid' | 'evicted'

export const REFUSALS: Readonly<Record<Refusal, readonly [code: number, reason: string]>> = {
  invalid: [CLOSE.policy, 'too many invalid messages'],
  evicted: [CLOSE.tryLater, 'the server needs the memory that the session takes'],
}
