import { badOption } from '../base/options.ts'
import type { Some } from '../base/some.ts'
import type { NodeStores } from './node-options.ts'

/** Checks the stores of a server that is one of several nodes. */
export function checkStores(stores: Some<NodeStores>): NodeStores {
  for (const [kind, functions] of Object.entries(STEPS)) {
    const store = stores[kind as keyof NodeStores] as Readonly<Record<string, unknown>> | undefined
    const lacks = functions.find((name) => typeof store?.[name] !== 'function')
    if (lacks !== undefined)
      throw badOption(
        'createServer store',
        `${kind} has no function ${lacks}; use a driver of pierhead/stores`,
      )
  }
  return stores as NodeStores
}

/** The functions that each store must have. */
const STEPS = {
  sessions: ['create', 'use', 'change', 'end'],
  events: ['open', 'append', 'read', 'position', 'trim', 'forget', 'watch'],
  changes: ['publish', 'subscribe', 'position', 'read'],
  cache: ['get', 'set', 'add', 'delete'],
  nodes: ['join', 'beat', 'leave', 'isAlive', 'secret'],
} as const satisfies { readonly [Kind in keyof NodeStores]: readonly (keyof NodeStores[Kind])[] }
