import type { StoreDriver, StoreKind } from '../store/driver.ts'

/** The kinds of store that the parent process keeps. */
export type ParentStores = {
  readonly [Kind in StoreKind]-?: NonNullable<StoreDriver[Kind]>
}

/** The functions of each store that are one question and one answer. Watching is different. */
export const STORE_STEPS: { readonly [Kind in StoreKind]: readonly (keyof ParentStores[Kind] & string)[] } = {
  sessions: ['create', 'use', 'change', 'end', 'count'],
  events: ['open', 'append', 'read', 'head', 'position', 'trim', 'forget'],
  tasks: ['create', 'get', 'head', 'owned', 'read', 'change', 'list', 'expire', 'claim', 'beat'],
  changes: ['publish', 'position', 'read'],
  cache: ['get', 'set', 'add', 'delete'],
  rates: ['use'],
  nodes: ['join', 'beat', 'leave', 'isAlive', 'secret'],
}

/** The kinds of store that can be watched. */
export type Watched = 'events' | 'tasks' | 'changes'
