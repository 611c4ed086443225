import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { HttpIn } from '../../src/transport/http/server/parts.ts'
import { replyText, type Reply } from '../../src/wire/reply.ts'
import { BOTH, call, message } from './messages.ts'
import { Gate, open, start, tools, type Session } from './server.ts'
import { post } from './wire.ts'

const steps = (count: number, id: number): string =>
  call('steps', { count }, id, { progressToken: `of ${id}` })
const batch = (...texts: string[]): string => `[${texts.join(',')}]`
const opened = async (app = tools(), capabilities = {}): Promise<Session> =>
  open((await start(app)).port, '2025-03-26', capabilities)

test('a batch whose handlers send something is answered as events: what they send, then all answers in order [R013]', async () => {
  const session = await opened()
  const reply = await session.post(batch(steps(2, 1), call('echo', { text: 'hi' }, 2), steps(1, 3)))
  expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream'])
  const messages = reply.events.map(({ data }) => JSON.parse(data) as JsonObject)
  const tokens = messages.slice(0, -1).map(({ params }) => (params as JsonObject)['progressToken'])
  expect(new Set(tokens)).toEqual(new Set(['of 1', 'of 3']))
  expect(tokens).toHaveLength(3)
  expect(messages.at(-1)).toMatchObject([
    { id: 1 },
    { id: 2, result: { content: [{ text: 'hi' }] } },
    { id: 3 },
  ])
})

test('a batch without notifications is answered as JSON', async () => {
  const session = await opened()
  const reply = await session.post(batch(steps(0, 1), call('echo', { text: 'hi' }, 2)))
  expect(reply.headers['content-type']).toBe('application/json')
  expect(reply.json).toMatchObject([{ id: 1 }, { id: 2 }])
})

test('a client that takes only JSON gets only JSON, and one that takes only events gets events', async () => {
  const session = await opened()
  const json = await session.post(batch(steps(2, 1), steps(2, 2)), { accept: 'application/json' })
  expect(json.json).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
  ])
  const events = await session.post(batch(call('echo', { text: 'hi' }, 1)), { accept: 'text/event-stream' })
  expect(events.events.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([[{ id: 1 }]])
})

test('the events start at once, and a client whose connection broke reconnects for the answers', async () => {
  const gate = new Gate()
  const app = createServer({ name: 'waits', version: '1' }).tool('wait', {}, async (_, { progress }) => {
    progress(1, 2)
    await gate.opened
    return 'done'
  })
  const session = await opened(app)
  const first = await session.stream(
    batch(call('wait', {}, 1, { progressToken: 1 }), call('wait', {}, 2, { progressToken: 2 })),
  )
  await first.until(({ messages }) => messages.length === 2)
  first.drop()
  gate.open()
  const { id } = first.events.at(-1)!
  const second = await (await session.get(id)).end()
  expect(second.messages).toMatchObject([
    [
      { id: 1, result: {} },
      { id: 2, result: {} },
    ],
  ])
})

test('a handler in a batch may ask, and is answered', async () => {
  const app = createServer({ name: 'asks', version: '1' }).tool('roots', {}, async (_, { roots }) =>
    JSON.stringify(await roots()),
  )
  const session = await opened(app, { roots: {} })
  const asked = await session.stream(batch(call('roots', {}, 1)))
  await asked.until(({ messages }) => messages.length === 1)
  const { id } = asked.messages[0]!
  const answer = { jsonrpc: '2.0', id, result: { roots: [{ uri: 'file:///x' }] } }
  expect((await session.post(JSON.stringify(answer))).status).toBe(202)
  await asked.end()
  expect(asked.messages.at(-1)).toMatchObject([
    { id: 1, result: { content: [{ text: '[{"uri":"file:///x"}]' }] } },
  ])
})

test('a batch without requests gets 202, and one whose only request was cancelled an end without an answer', async () => {
  const gate = new Gate()
  const app = createServer({ name: 'waits', version: '1' }).tool('wait', {}, async () => {
    gate.enter()
    await gate.opened
    return 'done'
  })
  const session = await opened(app)
  expect((await session.post(batch(message('notifications/initialized')))).status).toBe(202)
  const running = session.post(batch(call('wait', {}, 1)))
  await gate.entered
  await session.post(message('notifications/cancelled', { requestId: 1 }))
  gate.open()
  const { status, text } = await running
  expect([status, text]).toEqual([200, ''])
})

test('without sessions a batch is streamed too, without ids that could be resumed', async () => {
  const { port } = await start(tools(), { sessions: false })
  const reply = await post(port, batch(steps(1, 1), steps(1, 2)), BOTH)
  expect(reply.events).toHaveLength(3)
  expect(reply.text).not.toMatch(/^id:/m)
})

test('a batch that waited for too long is refused request by request [R013]', async () => {
  const { endpoint, port } = await start(tools())
  const { headers } = await open(port, '2025-03-26')
  const request = (isLate: boolean): HttpIn => ({
    method: 'POST',
    header: (name) => headers[name],
    body: batch(call('echo', { text: 'hi' }, 1), call('echo', { text: 'hi' }, 2)),
    isLate,
    onGone: () => undefined,
  })
  const answers = async (isLate: boolean): Promise<unknown> =>
    JSON.parse(replyText((await endpoint.answer(request(isLate))).body as Reply))
  expect(await answers(false)).toMatchObject([{ result: {} }, { result: {} }])
  const overloaded = { code: 1005, data: { refusal: { retryAfterMs: 1000 } } }
  expect(await answers(true)).toMatchObject([
    { id: 1, error: overloaded },
    { id: 2, error: overloaded },
  ])
})

/** Keeps the process busy for so long that others get a turn before the next message of a batch. */
function spin(): void {
  const end = performance.now() + 25
  while (performance.now() < end);
}

test('a server that closes answers all of a batch that came before', async () => {
  const app = createServer({ name: 'busy', version: '1' }).tool('busy', {}, () => {
    spin()
    setImmediate(() => void server.close())
    return 'done'
  })
  const { server, port } = await start(app)
  const session = await open(port, '2025-03-26')
  const { json } = await session.post(batch(call('busy', {}, 1), call('busy', {}, 2), call('busy', {}, 3)))
  expect(json).toMatchObject([1, 2, 3].map((id) => ({ id, result: { content: [{ text: 'done' }] } })))
})

test('a client in the same process that leaves during a batch gets no more of it', async () => {
  const ran: unknown[] = []
  const app = createServer({ name: 'busy', version: '1' }).tool('busy', {}, () => {
    ran.push('busy')
    spin()
    setImmediate(() => end.close())
    return 'done'
  })
  const heard: string[] = []
  const end = app.connect({ receive: (text) => heard.push(text) })
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  end.send(message('initialize', params, 1))
  end.send(batch(call('busy', {}, 2), call('busy', {}, 3), call('busy', {}, 4)))
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(ran).toHaveLength(1)
  expect(heard).toHaveLength(1)
})
