import { expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { message } from '../http/messages.ts'
import { Gate, open, type Session } from '../http/server.ts'
import { at, startNodes, type Cluster, type TestNode } from './nodes.ts'

const SESSIONS = 4
const CALLS = 5
const REPORTS = 40
const UNSENT = 200_000
const TEXT = 'x'.repeat(1000)

/** A tool that reports much once the test lets it go on. */
function gated(): { readonly define: (app: App) => void; readonly go: () => void; ended: number } {
  const begin = new Gate()
  const gate = {
    ended: 0,
    go: () => begin.open(),
    define: (app: App): void =>
      void app.tool('render', {}, async (_, { progress }) => {
        progress(1)
        await begin.opened
        for (let nth = 2; nth <= REPORTS; nth++) {
          progress(nth, REPORTS, TEXT)
          await new Promise(setImmediate)
        }
        gate.ended++
        return TEXT
      }),
  }
  return gate
}

const idOf = ({ headers }: Session): string => String(headers['mcp-session-id'])

/** Calls the tool, and leaves after its first report; answers the id of that event. */
async function abandon(session: Session, id: number): Promise<string> {
  const params = { name: 'render', _meta: { progressToken: id } }
  const stream = await session.stream(message('tools/call', params, id))
  await stream.until(({ messages }) => messages.length === 1)
  stream.drop()
  return String(stream.events.at(-1)?.id)
}

async function bytesOf({ stores }: Cluster, session: Session, event: string): Promise<number> {
  const name = event.split('_')[0] as string
  const page = await stores.kinds.events.read(idOf(session), name, -1, 10_000)
  return page?.events.reduce((sum, { text }) => sum + text.length, 0) ?? 0
}

test('streams that their clients abandon take no more of the store than unsentBytes, and one that was given up cannot be resumed', async () => {
  const gate = gated()
  const cluster = await startNodes({ define: gate.define, limits: { unsentBytes: UNSENT } })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  const abandoned: (readonly [Session, string])[] = []
  for (let nth = 0; nth < SESSIONS; nth++) {
    const session = await open(one.port, '2025-11-25')
    await session.post(message('notifications/initialized'))
    for (let id = 10; id < 10 + CALLS; id++) abandoned.push([session, await abandon(session, id)])
  }
  gate.go()
  await expect.poll(() => gate.ended).toBe(SESSIONS * CALLS)
  const sizes = async (): Promise<readonly number[]> =>
    Promise.all(abandoned.map(([session, event]) => bytesOf(cluster, session, event)))
  const sum = (all: readonly number[]): number => all.reduce((total, size) => total + size, 0)
  // Without the limit there would be 800,000.
  await expect.poll(async () => sum(await sizes())).toBeLessThan(UNSENT)
  const kept = await sizes()
  const lost = abandoned[kept.findIndex((size) => size < REPORTS * TEXT.length)] as readonly [Session, string]
  const resumed = await at(two, lost[0]).get(lost[1])
  expect([204, 400]).toContain((await resumed.end()).status)
})
