import { expect, onTestFinished, test, vi } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import { Lifetime } from '../store/lifetime.ts'
import { memory } from '../store/memory.ts'
import { MemoryNodeStore } from '../store/nodes-memory.ts'
import { Node } from './node.ts'
import type { NodeListener, NodeStores } from './node-options.ts'

const BEAT_MS = 5000

function toStores(): NodeStores {
  return { ...memory(), nodes: new MemoryNodeStore(new Lifetime()) }
}

async function join(stores: NodeStores, listener?: NodeListener): Promise<Node> {
  const report = (): void => undefined
  const node = await Node.join({ server: 'a', stores, inMemory: [], beatMs: BEAT_MS, listener, report })
  onTestFinished(() => node.leave())
  return node
}

test('a node counts as dead 15 to 30 s after its last sign of life', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  for (let before = 0; before < BEAT_MS; before += 500) {
    const stores = toStores()
    const seen: number[] = []
    const { number } = await stores.nodes.join({ server: 'a', inMemory: [] }, 3 * BEAT_MS)
    const since = performance.now()
    await vi.advanceTimersByTimeAsync(before)
    const node: Node = await join(stores, {
      onMessage: () => undefined,
      onAllChanged: () => undefined,
      onBeat: () => {
        const isAlive = stores.nodes.isAlive(number) as boolean
        if (node.suspects.isDead(number, isAlive)) seen.push(performance.now() - since)
      },
    })
    await vi.advanceTimersByTimeAsync(40_000)
    expect(seen[0]).toBeGreaterThan(15_000)
    expect(seen[0]).toBeLessThanOrEqual(30_000)
  }
})

test('a death that is announced is known at once, also to nodes that start later', async () => {
  const stores = toStores()
  const one = await join(stores)
  const two = await join(stores)
  const { number } = await stores.nodes.join({ server: 'a', inMemory: [] }, 60_000)
  one.declareDead(number)
  await one.announced()
  for (const node of [one, two, await join(stores)]) {
    expect(node.suspects.isConfirmed(number)).toBe(true)
    expect(node.suspects.isDead(number, await stores.nodes.isAlive(number))).toBe(true)
  }
})

test('when the store is back, no node is taken for dead that reaches it a second later than the others', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  for (let before = 0; before < BEAT_MS; before += 500) {
    const { late, early, takenForDead } = await joinTwo(before)
    late.isAway = early.isAway = true
    await vi.advanceTimersByTimeAsync(5 * BEAT_MS + 4400 - before)
    early.isAway = false
    await vi.advanceTimersByTimeAsync(1000)
    late.isAway = false
    await vi.advanceTimersByTimeAsync(4 * BEAT_MS)
    expect([before, takenForDead()]).toEqual([before, []])
  }
})

test('no node is taken for dead that could not reach the store between two times when that was away', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  for (let before = 0; before < BEAT_MS; before += 500) {
    const { late, early, takenForDead } = await joinTwo(before)
    late.isAway = early.isAway = true
    await vi.advanceTimersByTimeAsync(4 * BEAT_MS)
    // Only one of the nodes is fast enough.
    early.isAway = false
    await vi.advanceTimersByTimeAsync(1000)
    early.isAway = true
    await vi.advanceTimersByTimeAsync(2 * BEAT_MS)
    early.isAway = false
    await vi.advanceTimersByTimeAsync(1000)
    late.isAway = false
    await vi.advanceTimersByTimeAsync(4 * BEAT_MS)
    expect([before, takenForDead()]).toEqual([before, []])
  }
})

/** Two nodes, of which the second looks whether the first one lives, and the registry as each of them reaches it. */
async function joinTwo(before: number) {
  const stores = toStores()
  const [late, early] = [{ isAway: false }, { isAway: false }]
  const one = await join(awayWith(stores, late))
  await vi.advanceTimersByTimeAsync(before)
  const dead: number[] = []
  const two: Node = await join(awayWith(stores, early), {
    onMessage: () => undefined,
    onAllChanged: () => undefined,
    onBeat() {
      const isAlive = stores.nodes.isAlive(one.number) as boolean
      if (two.suspects.isDead(one.number, isAlive)) dead.push(one.number)
    },
  })
  return { late, early, takenForDead: () => dead }
}

/** Stores whose registry a node cannot reach while it is away. */
function awayWith(stores: NodeStores, registry: { readonly isAway: boolean }): NodeStores {
  const { nodes } = stores
  return {
    ...stores,
    nodes: {
      join: (...args) => nodes.join(...args),
      beat(...args) {
        if (registry.isAway) throw mcpError(STORE_UNREACHABLE, {})
        return nodes.beat(...args)
      },
      leave: (number) => nodes.leave(number),
      isAlive: (number) => nodes.isAlive(number),
      secret: (...args) => nodes.secret(...args),
    },
  }
}
