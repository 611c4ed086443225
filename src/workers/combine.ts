import type { StoreDriver, StoreKind } from '../store/driver.ts'
import type { ParentStores } from './store-steps.ts'

/** The stores of a server that runs in several processes. */
export interface CombinedStores {
  readonly stores: Omit<StoreDriver, 'close'>
  /** The kinds that are in the parent process although nodes on other machines may share the rest. */
  readonly inParent: readonly StoreKind[]
}

/**
 * Puts together the stores that were given and those of the parent process, which has the kinds that are missing. A driver without `nodes`
 * keeps things for one process alone, except tasks that it does not keep in memory.
 */
export function combineStores(
  given: Omit<StoreDriver, 'close'> | undefined,
  parent: ParentStores,
): CombinedStores {
  const { sessions, events, changes, cache, rates, nodes } = parent
  const own = { sessions, events, changes, cache, rates, nodes, tasks: parent.tasks }
  const tasks = isShared(given?.tasks) ? given?.tasks : own.tasks
  if (given?.nodes === undefined) return { stores: { ...own, tasks }, inParent: [] }
  const kept = Object.entries(given).filter(([kind, store]) => Object.hasOwn(own, kind) && isShared(store))
  const inParent = (Object.keys(own) as StoreKind[]).filter((kind) => !kept.some(([name]) => name === kind))
  return { stores: { ...own, ...Object.fromEntries(kept) }, inParent }
}

/** Whether all processes that have a store see the same in it. */
function isShared(store: object | undefined): boolean {
  return store !== undefined && !('isInMemory' in store && store.isInMemory === true)
}
