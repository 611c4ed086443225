import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { chaos } from '../../tools/chaos.ts'
import { call, message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import type { Stream } from '../http/wire.ts'
import { at, startNodes, type Cluster } from './nodes.ts'

const SESSIONS = 12
const STEPS = 30
const KEY = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } as const

/** Numbers from 0 to below a limit, the same on every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Repeats a request that was rejected because the store is away. */
async function insist(send: () => Promise<Stream>): Promise<Stream> {
  for (;;) {
    const stream = await send()
    if (stream.status !== 503) return stream
    await stream.end()
    await turn()
  }
}

/** Calls the tool, and loses the connection again and again; gives the ids of all events that arrived. */
async function callAndResume(
  cluster: Cluster,
  session: Session,
  random: (limit: number) => number,
): Promise<readonly string[]> {
  const somewhere = (): Session => at(cluster.nodes[random(cluster.nodes.length)]!, session)
  const seen: string[] = []
  let stream = await insist(() =>
    somewhere().stream(call('count', { key: session.id }, 7, { progressToken: 't' })),
  )
  for (;;) {
    const wanted = 1 + random(STEPS / 3)
    await stream.until(({ events, ended }) => ended || events.length >= wanted).catch(() => undefined)
    const isOver = stream.messages.some(({ id }) => id === 7)
    stream.drop()
    await stream.end()
    seen.push(...stream.events.map(({ id }) => id as string))
    if (isOver || stream.messages.some(({ id }) => id === 7)) return seen
    const last = seen.at(-1)
    stream = await insist(() => somewhere().get(last))
    expect(stream.status).toBe(200)
  }
}

test.each([1, 2, 3])(
  'with the store away again and again (seed %i), each call runs once, and its client gets each event once, in order',
  async (seed) => {
    const runs = new Map<string, number>()
    const define = (app: App): void =>
      void app.tool('count', { input: KEY }, async ({ key }, { progress }) => {
        runs.set(key, (runs.get(key) ?? 0) + 1)
        for (let step = 1; step <= STEPS; step++) {
          progress(step, STEPS)
          await turn()
        }
        return 'counted'
      })
    const cluster = await startNodes({ count: 3, define })
    const random = numbers(seed)
    const sessions: Session[] = []
    for (let each = 0; each < SESSIONS; each++) {
      const session = await open(cluster.nodes[each % 3]!.port)
      await session.post(message('notifications/initialized'))
      sessions.push(session)
    }
    for (const { view } of cluster.nodes)
      view.losesAnswer = (step) => step.startsWith('events.') && random(8) === 0
    let isOver = false
    const faults = (async () => {
      while (!isOver) {
        const { view } = cluster.nodes[random(3)]!
        view.isAway = true
        for (let turns = random(20); turns > 0; turns--) await turn()
        view.isAway = false
        for (let turns = random(60); turns > 0; turns--) await turn()
      }
    })()
    const seen = await Promise.all(
      sessions.map((session, each) => callAndResume(cluster, session, numbers(seed * 1000 + each))),
    )
    isOver = true
    await faults
    for (const { view } of cluster.nodes) view.losesAnswer = () => false
    for (const ids of seen) {
      const name = ids[0]?.split('_')[0]
      expect(ids).toEqual(Array.from({ length: STEPS + 2 }, (_, seq) => `${name}_${seq}`))
    }
    expect([...runs.values()]).toEqual(sessions.map(() => 1))
  },
)

// The whole test is `npm run chaos`.
test('with real stores, processes that die and clocks that differ, nothing is lost, repeated, reordered or mixed up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-chaos-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const extent = { tasks: 120, sessions: 24, kills: 3, minutes: 0.4, limitMinutes: 4, seed: 4 }
  const { faults, crashes } = await chaos({ ...extent, taskStore: 'postgres' }, folder)
  expect({ faults, crashes }).toEqual({ faults: [], crashes: [] })
}, 300_000)
