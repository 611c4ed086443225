import { expect, test } from 'vitest'
import type { ServerStore } from '../index.ts'
import type { ChangeBus } from '../rpc/change-bus.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import { memory } from '../store/memory.ts'
import type { TaskStore } from '../tasks/store.ts'
import { combineStores } from './combine.ts'
import { openParentStores } from './store-host.ts'

const parent = openParentStores()
const KINDS = ['sessions', 'events', 'changes', 'cache', 'rates', 'nodes', 'tasks'] as const

test('without a store, and with one in the memory of the process, everything is in the parent', () => {
  for (const given of [undefined, {}, memory()]) {
    const { stores, inParent } = combineStores(given, parent)
    for (const kind of KINDS) expect(stores[kind]).toBe(parent[kind])
    expect(inParent).toEqual([])
  }
})

test('tasks that are not in memory stay with a driver that knows no nodes', () => {
  const tasks = {} as TaskStore
  const { stores, inParent } = combineStores({ ...memory(), tasks }, parent)
  expect(stores.tasks).toBe(tasks)
  expect(stores.sessions).toBe(parent.sessions)
  expect(inParent).toEqual([])
})

test('of a driver that knows nodes, everything is used, and others learn what is in the parent', () => {
  const far = Object.entries(openParentStores()).map(([kind]) => [kind, {}])
  const shared = Object.fromEntries(far) as ServerStore
  const { stores, inParent } = combineStores({ ...shared, rates: undefined, tasks: memory().tasks }, parent)
  for (const kind of ['sessions', 'events', 'changes', 'cache', 'nodes'] as const)
    expect(stores[kind]).toBe(shared[kind])
  expect([stores.rates, stores.tasks]).toEqual([parent.rates, parent.tasks])
  expect(inParent).toEqual(['rates', 'tasks'])
})

test('a kind that the driver keeps only in the memory of the process is in the parent', () => {
  const nodes = {} as NodeStore
  const changes = {} as ChangeBus
  const { stores, inParent } = combineStores({ ...memory(), changes, nodes }, parent)
  expect([stores.sessions, stores.changes, stores.nodes]).toEqual([parent.sessions, changes, nodes])
  expect(inParent).toEqual(['sessions', 'events', 'cache', 'rates', 'tasks'])
})
