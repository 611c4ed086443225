import { expect, onTestFinished, test, vi } from 'vitest'
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
