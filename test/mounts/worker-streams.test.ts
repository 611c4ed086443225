import { connect } from 'pierhead/client'
import { connectGist } from 'pierhead/gist'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import { call, headed, message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import { send, stream, type Received, type Stream } from '../http/wire.ts'
import type { Started } from './runtimes.ts'
import { startWorker, type WorkerOptions } from './worker.ts'

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
  await expect
    .poll(async () => (got = got.status === 409 ? await session.get(lastEventId) : got).status)
    .toBe(200)
  onTestFinished(() => got.drop())
  return got
}

describe.each([
  ['export default app', 'exported/app.ts'],
  ['a framework that calls app.fetch(request)', 'exported/framework.ts'],
  ['a Durable Object', 'exported/object.ts'],
])('workerd with %s', (_, entry) => {
  let worker: Started
  let port = 0
  beforeAll(async () => {
    const durableObjects = entry === 'exported/object.ts' ? { OBJECTS: 'Server' } : {}
    worker = await startWorker(entry, { durableObjects })
    port = worker.port
  })
  afterAll(() => worker.stop())

  test('the stream of a session is kept alive while nothing happens', async () => {
    const session = await opened(port)
    const got = await listening(session)
    await got.until((one) => beats(one) >= 4)
    expect(await callLatest(port, 'touch')).toContain('touched')
    await got.until(touched)
  })

  test('a stream of subscriptions/listen is kept alive while nothing happens', async () => {
    const notifications = { resourceSubscriptions: ['memo://one'] }
    const got = await stream(port, headed('subscriptions/listen', { notifications }))
    onTestFinished(() => got.drop())
    await got.until((one) => beats(one) >= 4)
    expect(await callLatest(port, 'touch')).toContain('touched')
    await got.until(touched)
  })

  test('a client whose stream broke opens it again and misses nothing', async () => {
    const session = await opened(port)
    const first = await listening(session)
    await first.until(({ events }) => events.length > 0)
    first.drop()
    expect(await callLatest(port, 'touch')).toContain('touched')
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

describe('workerd', () => {
  async function start(entry: string, options?: WorkerOptions): Promise<Started> {
    const worker = await startWorker(entry, options)
    onTestFinished(() => worker.stop())
    return worker
  }

  test('a call goes on after its client has disconnected, and the client resumes the stream', async () => {
    const { port } = await start('exported/app.ts')
    const session = await opened(port)
    const first = await session.stream(call('crawl', {}, 3, { progressToken: 1 }))
    await first.until(({ messages }) => messages.length > 0)
    first.drop()
    const second = await session.get(first.events.at(-1)?.id)
    await second.until(({ messages }) => messages.some(({ id }) => id === 3))
    expect(second.messages.at(-1)).toMatchObject({ id: 3, result: { content: [{ text: 'there' }] } })
  })

  test('a question that was answered is not withdrawn when its time is over', async () => {
    const { port } = await start('exported/app.ts')
    const session = await open(port, '2025-11-25', { elicitation: { form: {} } })
    await session.post(message('notifications/initialized'))
    const got = await session.stream(call('ponder', {}, 3))
    await got.until(({ messages }) => messages.length > 0)
    const answer = { jsonrpc: '2.0', id: got.messages[0]?.['id'], result: { action: 'decline' } }
    expect((await session.post(JSON.stringify(answer))).status).toBe(202)
    await got.end()
    expect(got.messages.map(({ method, id }) => method ?? id)).toEqual(['elicitation/create', 3])
  })

  test('isolates with the same secret answer each other’s rounds', async () => {
    const options = { flags: ['nodejs_compat'], bindings: { PIERHEAD_SECRET: 'a secret of the tests' } }
    const workers = [
      await start('exported/app.ts', options),
      await start('exported/app.ts', options),
      await start('exported/app.ts'),
    ]
    const book = (port: number, more: JsonObject = {}): Promise<Received> => {
      const _meta = { [META.clientCapabilities]: { elicitation: { form: {} } } }
      return send(port, headed('tools/call', { name: 'book', _meta, ...more }))
    }
    const ports = workers.map(({ port }) => port)
    const { json } = await book(ports[0]!)
    const { inputRequests, requestState } = json['result'] as JsonObject
    const [key] = Object.keys(inputRequests as JsonObject)
    const inputResponses = { [key!]: { action: 'accept', content: { ship: 'Tern' } } }
    const answers = await Promise.all(ports.map((port) => book(port, { inputResponses, requestState })))
    for (const { text } of answers.slice(0, 2)) expect(text).toContain('booked for Tern')
    expect(answers[2]?.text).not.toContain('booked')
  })

  test('HTTP+SSE and gist envelopes work too', async () => {
    const { url, port } = await start('exported/options.ts')
    const client = await connect(url.replace('/mcp', '/sse'), { revision: '2024-11-05' })
    onTestFinished(() => client.close())
    expect(await client.call('later', { text: 'later' })).toBe('later')
    const seen: unknown[] = []
    await client.call('steps', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(seen).toEqual([1, 2, 3])
    const stop = new AbortController()
    const onProgress = (): void => stop.abort()
    await expect(client.call('hold', {}, { onProgress, signal: stop.signal })).rejects.toMatchObject({
      kind: 'cancelled',
    })
    await expect.poll(() => client.call('stopped')).toBe('1')
    const gist = await connectGist(url.replace('/mcp', '/gist'))
    onTestFinished(() => gist.close())
    expect(await gist.call('later', { text: 'later' })).toMatchObject({
      result: { content: [{ text: 'later' }] },
    })
    expect(await callLatest(port, 'later', { text: 'later' })).toContain('"text":"later"')
  })

  test('what only Node can do says so', async () => {
    const { port } = await start('exported/app.ts')
    for (const name of ['listen', 'node'])
      expect(await callLatest(port, name)).toMatch(/export the app: export default app/)
  })

  test('a compatibility date that is too old is named as the reason', async () => {
    const worker = await startWorker('exported/app.ts', { date: '2024-10-13' })
    onTestFinished(() => worker.stop())
    expect(await callLatest(worker.port, 'later', { text: 'later' })).toBe('500')
    await expect.poll(() => worker.printed.join('')).toMatch(/compatibility_date: .* use a later date/)
  })
})
