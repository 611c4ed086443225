import type { Limits } from '../../../protocol/limits.ts'
import type { Authentication } from './auth-method.ts'
import type { GuardOptions } from './guard.ts'
import type { TrustProxy } from './proxy.ts'
import type { Replicas } from './replicas.ts'

/** The settings of an endpoint. */
export interface EndpointOptions extends GuardOptions {
  readonly limits: Limits
  /** Whether clients of revisions with a handshake get sessions; otherwise each request is independent. */
  readonly sessions: boolean
  /** Identifies the caller, if the adapter does not. */
  readonly authentication?: Authentication | undefined
  /** Which proxies to believe; by default none. */
  readonly trustProxy?: TrustProxy | undefined
  /** Shares sessions with other nodes; absent if there are none. */
  readonly replicas?: Replicas | undefined
  readonly now?: () => number
  /** Called when it has closed. */
  readonly onClosed?: () => void
}
