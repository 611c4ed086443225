import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { serviceOf } from '../../src/app/app.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { call, message } from '../http/messages.ts'
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
  const { port, counted } = await serve({ unsentBytes: 14_000 })
  const sessions: [Session, string][] = []
  for (let each = 0; each < 5; each++) {
    const session = await open(port)
    const { events } = await (await session.stream(say(2700))).end()
    sessions.push([session, events[0]!.id!])
  }
  expect(counted('stream_forgotten')).toBe(1)
  const streams = await Promise.all(sessions.map(([session, place]) => session.get(place)))
  expect(streams.map(({ status }) => status)).toEqual([204, 200, 200, 200, 200])
})

test('limits.unsentBytes a session that ends gives back what it kept', async () => {
  const { port, counted } = await serve({ unsentBytes: 14_000 })
  for (let each = 0; each < 6; each++) {
    const session = await open(port)
    await (await session.stream(say(2700))).end()
    await session.delete()
  }
  expect(counted('stream_forgotten')).toBe(0)
})

test('limits.unsentBytes what was kept is not sent again while too much waits for clients that read slowly', async () => {
  const { port, counted } = await serve({ unsentBytes: 50_000_000, streamBytes: 1e8 })
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

describe('limits.unsentBytes events that nobody reads', () => {
  const URI = 'note://ann/a'

  function notes(): App {
    return createServer({ name: 'notes', version: '1', log: () => undefined })
      .resource('note://{user}/{+path}', {}, () => 'text')
      .tool('ask', {}, async (_, { log, elicit }) => {
        log.info('x'.repeat(3000))
        const { action } = await elicit('sure?', { type: 'object', properties: {} })
        return action
      })
  }

  async function subscribe(port: number): Promise<Session> {
    const session = await open(port, '2025-06-18', { elicitation: {} })
    await session.post(message('notifications/initialized'))
    expect((await session.post(message('resources/subscribe', { uri: URI }, 2))).status).toBe(200)
    return session
  }

  const updates = (app: App, count: number): void => {
    for (let each = 0; each < count; each++) app.updated(`${URI}/${each}${'x'.repeat(1000)}`)
  }

  /** What a client gets that opens the stream of a session now. */
  async function found(app: App, session: Session, last?: string): Promise<Stream> {
    const stream = await session.get(last)
    onTestFinished(() => stream.drop())
    if (stream.status !== 200) return stream
    app.updated(`${URI}/last`)
    return stream.until(({ raw }) => raw.includes(`${URI}/last`))
  }

  test('are discarded: idle sessions keep no more than that together', async () => {
    const app = notes()
    const { port } = await start(app, { limits: { unsentBytes: 20_000 } })
    const sessions: Session[] = []
    for (let each = 0; each < 10; each++) sessions.push(await subscribe(port))
    updates(app, 30)
    let bytes = 0
    for (const session of sessions) bytes += (await found(app, session)).raw.length
    expect(bytes).toBeLessThanOrEqual(20_000)
    expect(app.counts.get('event_forgotten')).toBeGreaterThan(0)
  })

  test('of one caller take at most a quarter, and leave those of others alone', async () => {
    const app = notes()
    const { port } = await start(app, { limits: { unsentBytes: 20_000 } })
    const calm = await subscribe(port)
    updates(app, 1)
    const early = await found(app, calm)
    early.drop()
    const { kept } = budgetsOf(serviceOf(app), app.limits)
    const before = kept.bytes
    const idle = await subscribe(port)
    for (let each = 0; each < 30; each++) {
      updates(app, 1)
      expect(kept.bytes).toBeLessThanOrEqual(10_000)
    }
    expect([before > 1000, (await found(app, idle)).raw.length < 5000]).toEqual([true, true])
  })

  test('are missed knowingly: the client learns that they are gone, and then gets what follows', async () => {
    const app = notes()
    const { port } = await start(app, { limits: { unsentBytes: 20_000 } })
    const session = await subscribe(port)
    const first = await found(app, session)
    const last = first.events.at(-1)?.id as string
    first.drop()
    const { kept } = budgetsOf(serviceOf(app), app.limits)
    const again = async (): Promise<number> => {
      updates(app, 10)
      const stream = await session.get(last)
      stream.drop()
      return stream.status
    }
    await expect.poll(again).toBe(400)
    expect(kept.bytes).toBeLessThanOrEqual(5000)
    expect((await found(app, session)).messages.at(-1)).toMatchObject({ params: { uri: `${URI}/last` } })
  })

  test('end the stream of a running request: its question fails, and so does coming back', async () => {
    const app = notes()
    const { port } = await start(app, { limits: { unsentBytes: 20_000 } })
    const session = await open(port, '2025-11-25', { elicitation: {} })
    await session.post(message('notifications/initialized'))
    const places: string[] = []
    for (let each = 0; each < 8; each++) {
      const stream = await session.stream(call('ask', {}, 10 + each))
      await stream.until(({ raw }) => raw.includes('elicitation/create'))
      places.push(stream.events[0]!.id!)
      stream.drop()
    }
    const { kept } = budgetsOf(serviceOf(app), app.limits)
    await expect.poll(() => app.counts.get('stream_forgotten') ?? 0).toBeGreaterThan(5)
    expect(kept.bytes).toBeLessThanOrEqual(5000)
    const replies = await Promise.all(places.map((place) => session.get(place)))
    for (const reply of replies) reply.drop()
    expect(replies.filter(({ status }) => status === 204).length).toBeGreaterThan(5)
    expect(serviceOf(app).load.asking).toBeLessThan(3)
    await session.delete()
  })
})
