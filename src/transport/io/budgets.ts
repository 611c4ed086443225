import { shareOf } from '../../base/share.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Load } from '../../rpc/load.ts'
import type { Service } from '../../rpc/service.ts'
import { KeptPool } from './kept-pool.ts'
import { NoticeBudget } from './notice-budget.ts'
import { ReadPool } from './read-budget.ts'
import { StoredBytes } from './stored-bytes.ts'
import { WritePool } from './write-budget.ts'

/** The bytes that one server is reading, writing and keeping, over all its transports. */
export interface Budgets {
  readonly read: ReadPool
  readonly write: WritePool
  /** What waits for earlier replies on the same HTTP connections. */
  readonly pipelined: WritePool
  readonly kept: KeptPool
  /** Notifications that wait in the store of several nodes. */
  readonly notices: NoticeBudget
  /** Subscriptions in the store of several nodes. */
  readonly stored: StoredBytes
  /** Long answers on their way to other nodes, which the store keeps meanwhile. */
  readonly forwarded: StoredBytes
  /** Those to nodes that may not exist: a quarter as many, so that they take nothing from the others. */
  readonly strays: StoredBytes
}

const budgets = new WeakMap<Load, Budgets>()

/** The byte budgets of a server. */
export function budgetsOf({ load }: Pick<Service, 'load'>, limits: Limits): Budgets {
  let own = budgets.get(load)
  if (own === undefined) {
    own = {
      read: new ReadPool(limits),
      write: new WritePool(limits),
      pipelined: new WritePool(limits),
      kept: new KeptPool(limits),
      notices: new NoticeBudget(limits),
      stored: new StoredBytes(limits),
      forwarded: new StoredBytes(limits),
      strays: new StoredBytes({ heldBytes: shareOf(limits.heldBytes) }),
    }
    budgets.set(load, own)
  }
  return own
}

/** Lets a server reject requests of callers that do not read their answers. */
export function checkUnsent(service: Pick<Service, 'load'>, limits: Limits): void {
  const { write, pipelined } = budgetsOf(service, limits)
  service.load.check = (caller, bytes) => {
    pipelined.checkOwn(caller)
    write.check(caller, bytes)
  }
}
