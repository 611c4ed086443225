import { nearest } from '../base/nearest.ts'
import { badOption } from '../base/options.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import type { StoreKind } from '../store/driver.ts'
import type { ServerStore } from './options.ts'

const WHERE = 'createServer store'

const KINDS = [
  'sessions',
  'events',
  'tasks',
  'changes',
  'cache',
  'rates',
  'nodes',
] as const satisfies readonly StoreKind[]

/** The functions that a store of tasks must have. Those of other kinds are checked when nodes share them. */
const TASK_STEPS = ['create', 'get', 'head', 'change', 'list', 'expire', 'claim', 'beat', 'watch'] as const

/** Rejects misspelt kinds, and values that are not stores of their kind. */
export function checkStore(store: ServerStore): void {
  if ('then' in store) throw badOption('createServer', 'store is a promise; await it before you pass it')
  if (isOneKind(store))
    throw badOption(
      WHERE,
      'this is a store of one kind; write store: { sessions: redis(url).sessions }, or for several nodes store: redis(url)',
    )
  // A driver of the user's own may have further members.
  const isDriver = 'close' in store
  for (const name of Object.keys(store)) {
    if (name === 'close' || (KINDS as readonly string[]).includes(name)) continue
    const meant = nearest(name, KINDS)
    const remedy = meant === undefined ? `the kinds are ${KINDS.join(', ')}` : `did you mean "${meant}"?`
    if (meant !== undefined || !isDriver) throw badOption(WHERE, `there is no kind "${name}"; ${remedy}`)
  }
  for (const kind of KINDS) if (store[kind] !== undefined) checkKind(kind, store[kind])
}

/** Whether something is part of a driver: an object of a class that has no kinds. */
function isOneKind(store: ServerStore): boolean {
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(store) as object | null)
  return !isPlain && KINDS.every((kind) => kind === 'nodes' || store[kind] === undefined)
}

function checkKind(kind: StoreKind, given: unknown): void {
  if (!isObject(given)) throw badOption(WHERE, `${kind} is not a store; write ${kind}: ${exampleOf(kind)}`)
  const kept = KINDS.filter((name) => name !== 'nodes' && isObject(given[name]))
  if (kept.length > 0 && !kept.includes(kind))
    throw badOption(WHERE, `${kind} is a whole driver without ${kind}; it keeps ${kept.join(', ')}`)
  if (kept.length > 0) throw badOption(WHERE, `${kind} is a whole driver; write ${kind}: ${exampleOf(kind)}`)
  const lacks = kind === 'tasks' && TASK_STEPS.find((step) => typeof given[step] !== 'function')
  if (lacks) throw badOption(WHERE, `tasks has no function ${lacks}; use a driver of pierhead/stores`)
}

function exampleOf(kind: StoreKind): string {
  return kind === 'tasks' ? 'postgres(url).tasks' : `redis(url).${kind}`
}

/** The stores with what knows the nodes that share them, which those of a driver know if the driver itself was not given. */
export function withNodes(store: ServerStore | undefined): ServerStore | undefined {
  if (!isObject(store) || store.nodes !== undefined) return store
  const { sessions, events, tasks, changes, cache, rates } = store
  const nodes = sessions?.nodes ?? events?.nodes ?? changes?.nodes
  return nodes === undefined ? store : { sessions, events, tasks, changes, cache, rates, nodes }
}
