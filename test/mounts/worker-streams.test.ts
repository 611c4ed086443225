import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { call, headed, message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import { send, stream, type Stream } from '../http/wire.ts'
import { bundleWorker, COMPLAINT, startWorker, type Worker } from './worker.ts'

const touched = ({ messages }: Stream): boolean =>
  messages.some(({ method }) => method === 'notifications/resources/updated')
const beats = ({ raw }: Stream): number => raw.split(': keep-alive\n\n').length - 1

/** Calls a tool at 2026-07-28. */
async function callLatest(port: number, name: string, args: JsonObject = {}): Promise<string> {
  const { body, headers } = headed('tools/call', { name, arguments: args })
  const reply = await send(port, { body, headers })
  return reply.status === 200 ? reply.text : String(reply.status)
}

async function opened(port: number): Promise<Session> {
  const session = await open(port)
  await session.post(message('notifications/initialized'))
  await session.post(message('resources/subscribe', { uri: 'memo://one' }, 2))
  return session
}

async function listening(session: Session, lastEventId?: string): Promise<Stream> {
  let got = await session.get(lastEventId)
  // The server may not know yet that the earlier stream is gone.
  await expect.poll(async () => (got = got.status === 409 ? await session.get(lastEventId) : got).status).toBe(200)
  onTestFinished(() => got.drop())
  return got
}

describe.each([
  ['export default app', 'worker-server.ts'],
  ['a framework that calls app.fetch(request)', 'worker-plain.ts'],
  ['a Durable Object', 'worker-object.ts'],
])('workerd with %s', (_, entry) => {
  let worker: Worker
  let port = 0
  beforeAll(async () => {
    const durableObjects = entry === 'worker-object.ts' ? { OBJECTS: 'Server' } : {}
    worker = await startWorker(await bundleWorker(entry), { durableObjects })
    port = worker.port
  })
  afterAll(async () => {
    await worker.stop()
    expect(worker.printed.join('')).not.toMatch(COMPLAINT)
  })

  test('the stream of a session is kept alive while nothing happens', async () => {
    const session = await opened(port)
    const got = await listening(session)
    await got.until((one) => beats(one) >= 4)
    await callLatest(port, 'touch')
    await got.until(touched)
  })

  test('a stream of subscriptions/listen is kept alive while nothing happens', async () => {
    const notifications = { resourceSubscriptions: ['memo://one'] }
    const got = await stream(port, headed('subscriptions/listen', { notifications }))
    onTestFinished(() => got.drop())
    await got.until((one) => beats(one) >= 4)
    await callLatest(port, 'touch')
    await got.until(touched)
  })

  test('a client whose stream broke opens it again and misses nothing', async () => {
    const session = await opened(port)
    const first = await listening(session)
    await first.until(({ events }) => events.length > 0)
    first.drop()
    await callLatest(port, 'touch')
    const second = await listening(session, first.events.at(-1)?.id)
    await second.until(touched)
    second.drop()
    await listening(session)
  })

  test('a request that ends a session ends its stream', async () => {
    const session = await opened(port)
    const got = await listening(session)
    expect((await session.delete()).status).toBe(200)
    await got.end()
  })

  test('requests whose clients are gone do not count any more', async () => {
    for (let count = 0; count < 4; count++) {
      const { body, headers } = headed('tools/call', { name: 'hold', _meta: { progressToken: 1 } })
      const got = await stream(port, { body, headers })
      if (got.status !== 200) break
      await got.until(({ messages }) => messages.length > 0)
      got.drop()
    }
    await expect.poll(() => callLatest(port, 'later', { text: 'later' })).toContain('"text":"later"')
  })
})

describe('workerd with export default app', () => {
  test('a call goes on after its client has disconnected, and the client resumes the stream', async () => {
    const worker = await startWorker(await bundleWorker('worker-server.ts'))
    onTestFinished(() => worker.stop())
    const session = await opened(worker.port)
    const first = await session.stream(call('crawl', {}, 3, { progressToken: 1 }))
    await first.until(({ messages }) => messages.length > 0)
    first.drop()
    const second = await session.get(first.events.at(-1)?.id)
    await second.until(({ messages }) => messages.some(({ id }) => id === 3))
    expect(second.messages.map(({ method, id }) => method ?? id)).toContain(3)
  })
})
