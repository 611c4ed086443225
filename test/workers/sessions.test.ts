import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { startRedis } from '../harness/redis.ts'
import { call, headed, message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import { send, type Stream } from '../http/wire.ts'
import { start, Many } from './start.ts'

const TOKEN = { progressToken: 't' }
const textOf = ({ json }: { readonly json: JsonObject }): string =>
  (json['result'] as { readonly content: readonly [{ readonly text: string }] }).content[0].text
const idsOf = ({ events }: Stream): readonly string[] => events.map(({ id }) => id as string)

/** The processes that answer a session. Each request comes with a connection of its own, which goes to the next process. */
async function serving(session: Session): Promise<ReadonlySet<string>> {
  const pids = new Set<string>()
  for (let round = 0; round < 6; round++) pids.add(textOf(await session.post(call('who'))))
  return pids
}

test('any process serves any session: values, questions, changes, streams, tasks and the end', async () => {
  const { port, pids, ...many } = await start({ workers: 2 })
  const session = await open(port, '2025-11-25', { elicitation: { form: {} } })
  await session.post(message('notifications/initialized'))
  expect(await serving(session)).toEqual(new Set(pids.map(String)))
  for (let count = 1; count <= 4; count++)
    expect(textOf(await session.post(call('keep')))).toBe(String(count))

  for (let round = 0; round < 3; round++) {
    const asked = await session.stream(call('ask', {}, 10 + round))
    await asked.until(({ messages }) => messages.length === 1)
    const { id } = asked.messages[0] as JsonObject
    // One more request, so that the answers arrive at each process.
    if (round === 1) await session.post(call('who'))
    await session.post(
      JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ann' } } }),
    )
    await asked.end()
    expect(asked.messages.at(-1)).toMatchObject({ result: { content: [{ text: 'Hello, Ann!' }] } })
  }

  await session.post(message('resources/subscribe', { uri: 'note://a' }, 5))
  const stream = await session.get()
  for (let round = 1; round <= 4; round++) {
    await session.post(call('touch'))
    await stream.until(({ messages }) => messages.length === round)
  }
  many.child.stdin?.write('updated\n')
  await stream.until(({ messages }) => messages.length === 5)
  expect((await session.get()).status).toBe(409)

  for (let round = 0; round < 4; round++) {
    const running = await session.stream(call('slow', { ms: 300 }, 20 + round, TOKEN))
    await running.until(({ events }) => events.length === 2)
    const resumed = await session.get(idsOf(running)[0])
    await Promise.all([running.end(), resumed.end()])
    expect(idsOf(resumed)[0]).toBe(idsOf(running)[1])
    expect(resumed.messages.at(-1)).toMatchObject({ id: 20 + round, result: {} })
  }

  expect((await session.delete()).status).toBe(200)
  await stream.end()
  for (let round = 0; round < 4; round++) expect((await session.post(call('who'))).status).toBe(404)
})

test('states of 2026-07-28 are sealed with one secret', async () => {
  const { port } = await start({ workers: 3 })
  const ask = (more: JsonObject = {}): ReturnType<typeof send> =>
    send(port, headed('tools/call', { name: 'ask', arguments: {}, _meta: FORMS, ...more }))
  for (let round = 0; round < 3; round++) {
    const { result } = (await ask()).json as { readonly result: JsonObject }
    const [[key] = []] = Object.entries(result['inputRequests'] as JsonObject)
    const inputResponses = { [key as string]: { action: 'accept', content: { name: 'Bo' } } }
    const answered = await ask({ inputResponses, requestState: result['requestState'] })
    expect(textOf(answered)).toBe('Hello, Bo!')
  }
})

const FORMS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }

test.each(['the parent', 'Redis'])(
  'a request of a process that crashed is answered at once, not when its lease is over, with nodes in %s',
  async (place) => {
    const server = place === 'Redis' ? await startRedis() : undefined
    onTestFinished(() => server?.close())
    const many = await start({ workers: 2, ...(server !== undefined && { redis: server.url }) })
    const session = await open(many.port, '2025-11-25')
    await session.post(message('notifications/initialized'))
    const running = await session.stream(call('slow', { ms: 600_000 }, 7, TOKEN))
    await running.until(({ events }) => events.length === 2)
    const { params } = running.messages[0] as { readonly params: { readonly message: string } }
    const since = performance.now()
    process.kill(Number(params.message.slice('by '.length)), 'SIGKILL')
    await running.end().catch(() => undefined)
    // The process may have died before the store had the last event; then the second stream has the answer.
    let resumed = await (await session.get(idsOf(running)[1])).end()
    if (resumed.messages.length === 0) resumed = await (await session.get(idsOf(running)[1])).end()
    expect(resumed.messages.at(-1)).toMatchObject({
      id: 7,
      error: { data: { refusal: { name: 'TRANSPORT_ERROR' } } },
    })
    expect(performance.now() - since).toBeLessThan(12_000)
  },
)

test('a task of a process that crashed is taken over by another one', async () => {
  const many = await start({ workers: 2 })
  const { port } = many
  const pids = [...many.pids]
  const session = await open(port, '2025-11-25')
  await session.post(message('notifications/initialized'))
  const params = { name: 'work', arguments: { ms: 3000 }, task: { ttl: 60_000 } }
  const created = await session.post(message('tools/call', params, 3))
  const { taskId } = (created.json['result'] as { readonly task: JsonObject }).task
  // The process that runs it is not known, so both end.
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await many.until(() => many.pids.length === 4)
  await expect
    .poll(
      async () => {
        try {
          const reply = await session.post(message('tasks/get', { taskId }, 4))
          return (reply.json['result'] as JsonObject | undefined)?.['status']
        } catch {
          return undefined
        }
      },
      { timeout: 50_000, interval: 200 },
    )
    .toBe('completed')
  const { json } = await session.post(message('tasks/result', { taskId }, 5))
  const by = (json['result'] as { readonly content: readonly [{ readonly text: string }] }).content[0].text
  expect(pids.map((pid) => `done by ${pid}`)).not.toContain(by)
})

test('with Redis, only what Redis does not keep is in the parent, and another machine is told so', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const { port } = await start({ workers: 2, redis: server.url })
  const session = await open(port, '2025-11-25')
  for (let count = 1; count <= 4; count++)
    expect(textOf(await session.post(call('keep')))).toBe(String(count))
  const second = new Many({ workers: 2, redis: server.url })
  expect(await second.exit()).toEqual([7, null])
  expect(second.at('failed')[0]).toMatchObject({
    kind: 'store_not_shared',
    message: expect.stringMatching(/: tasks$/),
  })
})
