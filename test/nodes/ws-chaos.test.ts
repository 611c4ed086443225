import { expect, onTestFinished, test } from 'vitest'
import { connect, type State } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import { relay } from '../ws/relay.ts'
import { startNodes } from './nodes.ts'

const CALLS = 120
const STEPS = 3
const NUMBER = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

/** Numbers from 0 to below a limit, the same on every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test.each([1, 2, 3])(
  'a WebSocket that breaks again and again and moves between nodes, with the store away now and then (seed %i), loses nothing and repeats nothing',
  { timeout: 60_000 },
  async (seed) => {
    const random = numbers(seed)
    const runs = new Map<number, number>()
    const define = (app: App): void =>
      void app.tool('step', { input: NUMBER }, async ({ n }, { progress }) => {
        runs.set(n, (runs.get(n) ?? 0) + 1)
        for (let step = 1; step <= STEPS; step++) {
          progress(step, STEPS)
          for (let turns = n % 9; turns > 0; turns--) await turn()
        }
        return String(n)
      })
    const { nodes } = await startNodes({ count: 3, define, listen: { http: { port: 0 }, ws: true } })
    const way = await relay(nodes[0]!.port)
    const limits = { reconnectFirstMs: 5, reconnectMaxMs: 20, reconnectFloorMs: 1 }
    const client = await connect(way.url, { revision: '2025-11-25', limits })
    onTestFinished(() => client.close())
    const states: State[] = []
    client.on('state', (state) => states.push(state))
    let isOver = false
    const faults = (async () => {
      while (!isOver) {
        const { view, port } = nodes[random(3)]!
        view.losesAnswer = (step) => step.startsWith('events.') && random(10) === 0
        view.isAway = random(4) === 0
        for (let turns = random(30); turns > 0; turns--) await turn()
        view.isAway = false
        way.leadTo(port)
        const before = way.heads.length
        if (random(3) === 0) way.cut()
        else way.cutAfter(1 + random(2000), random(2) === 0 ? 'up' : 'down')
        while (way.heads.length === before && !isOver) await turn()
        for (let turns = random(600); turns > 0; turns--) await turn()
      }
      for (const { view } of nodes) {
        view.isAway = false
        view.losesAnswer = () => false
      }
    })()
    const call = async (n: number): Promise<void> => {
      const steps: unknown[] = []
      const onProgress = ({ progress }: { readonly progress?: number | undefined }): void =>
        void steps.push(progress)
      expect(await client.call('step', { n }, { onProgress })).toBe(String(n))
      expect(steps).toEqual([1, 2, 3])
    }
    for (let n = 0; n < CALLS; n += 10)
      await Promise.all(Array.from({ length: 10 }, (_, each) => call(n + each)))
    isOver = true
    await faults
    expect(states).toEqual([])
    expect([...runs.values()].filter((count) => count !== 1)).toEqual([])
    expect(runs.size).toBe(CALLS)
  },
)
