import type { Limits } from '../protocol/limits.ts'
import type { Service } from '../rpc/service.ts'
import type { HeldBytes } from './held-bytes.ts'
import type { Sealer } from './state.ts'

/** The parts of a server that its handlers share. */
export interface ServerParts extends Pick<
  Service,
  'changes' | 'load' | 'observers' | 'showsErrors' | 'report' | 'warnOnce'
> {
  readonly sealer: Sealer
  readonly limits: Limits
  readonly held: HeldBytes
  /** Tells the operator, once, that an item needs scopes and that callers are not authenticated. */
  warnOfScopes(item: string): void
}
