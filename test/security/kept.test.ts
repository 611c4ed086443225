import { expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { call } from '../http/messages.ts'
import { open, start, type Session } from '../http/server.ts'
import type { Stream } from '../http/wire.ts'

/** Serves a tool that answers with a text of some size, after a notification. */
async function serve(limits: Partial<Limits>): Promise<{ port: number; counted(what: string): number }> {
  const app: App = createServer({ name: 'large', version: '1' }).tool(
    'say',
    { input: { type: 'object', properties: { size: { type: 'integer' } } } },
    async ({ size }, { progress }) => {
      progress(1)
      await new Promise((resolve) => setImmediate(resolve))
      return 'x'.repeat(Number(size))
    },
  )
  const { port } = await start(app, { limits })
  return { port, counted: (what) => app.counts.get(what as never) ?? 0 }
}

const say = (size: number): string => call('say', { size }, 1, { progressToken: 1 })

test('limits.unsentBytes what all sessions keep together has a size: those opened first give up what is over', async () => {
  const { port, counted } = await serve({ unsentBytes: 10_000 })
  const sessions: [Session, string][] = []
  for (let each = 0; each < 4; each++) {
    const session = await open(port)
    const { events } = await (await session.stream(say(3000))).end()
    sessions.push([session, events[0]!.id!])
  }
  expect(counted('stream_forgotten')).toBe(1)
  const streams = await Promise.all(sessions.map(([session, place]) => session.get(place)))
  expect(streams.map(({ status }) => status)).toEqual([204, 200, 200, 200])
})

test('limits.unsentBytes a session that ends gives back what it kept', async () => {
  const { port, counted } = await serve({ unsentBytes: 10_000 })
  for (let each = 0; each < 6; each++) {
    const session = await open(port)
    await (await session.stream(say(3000))).end()
    await session.delete()
  }
  expect(counted('stream_forgotten')).toBe(0)
})

test('limits.unsentBytes what was kept is not sent again while too much waits for clients that read slowly', async () => {
  const { port, counted } = await serve({ unsentBytes: 1_000_000, streamBytes: 1e8 })
  const session = await open(port)
  const { events } = await (await session.stream(say(12_000_000))).end()
  const readers: Stream[] = []
  for (let status = 200; status === 200 && readers.length < 20;) {
    const reader = await session.get(events[0]!.id!)
    reader.response.pause()
    readers.push(reader)
    status = reader.status
  }
  expect([readers.at(-1)!.status, counted('too_much_unsent')]).toEqual([503, 1])
  for (const reader of readers) reader.drop()
})

test('limits.streamBytes an answer larger than what may wait for a reader arrives whole on a stream that has begun', async () => {
  const { port, counted } = await serve({ streamBytes: 100_000 })
  const session = await open(port)
  const { messages } = await (await session.stream(say(12_000_000))).end()
  expect(JSON.stringify(messages.at(-1)).length).toBeGreaterThan(12_000_000)
  expect(counted('slow_reader')).toBe(0)
})
