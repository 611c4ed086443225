import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { WritePool } from '../../src/transport/io/write-budget.ts'
import { headed } from '../http/messages.ts'
import { begin, send, stream, type Stream } from '../http/wire.ts'
import { start } from '../gist/server.ts'
import { Gate } from '../http/server.ts'

const MB = 1_000_000
const DECLARED = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } }
const LISTEN = 'subscriptions/listen'

/** A server whose tasks have results of a length, once a gate is open. */
function long(length: number, limits: Partial<Limits> = {}, gate?: Gate): App {
  const app = createServer({ name: 'long', version: '1', log: () => undefined, limits })
  return app.tool('long', { task: 'required' }, async () => {
    await gate?.opened
    return 'x'.repeat(length)
  })
}

/** Starts so many tasks, and answers their ids. */
async function begun(port: number, count: number): Promise<readonly string[]> {
  const call = async (): Promise<string> => {
    const { body, headers } = headed('tools/call', { name: 'long', _meta: DECLARED })
    const { json } = await send(port, { body, headers })
    return (json['result'] as { taskId: string }).taskId
  }
  return Promise.all(Array.from({ length: count }, call))
}

function follow(port: number, taskIds: readonly string[]): Promise<Stream> {
  return stream(port, headed(LISTEN, { notifications: { taskIds }, _meta: DECLARED }))
}

function ends({ messages }: Stream): readonly string[] {
  return messages.flatMap(({ method, params }) =>
    method === 'notifications/tasks' ? [(params as { taskId: string }).taskId] : [],
  )
}

test('a client that follows tasks gets results that are longer than limits.streamBytes', async () => {
  const app = long(6 * MB)
  const { port } = await start(app)
  const ids = await begun(port, 3)
  const followed = await follow(port, ids)
  await followed.until(({ events }) => events.length === 4)
  expect(ends(followed).toSorted()).toEqual(ids.toSorted())
  expect(followed.raw.length).toBeGreaterThan(18 * MB)
  followed.drop()
  expect(app.counts.get('slow_reader') ?? 0).toBe(0)
})

test('also if it reads them slowly', async () => {
  const app = long(14 * MB, { keepAliveMs: 1000 })
  const { port } = await start(app)
  const [id] = await begun(port, 1)
  const response = await begin(port, headed(LISTEN, { notifications: { taskIds: [id] }, _meta: DECLARED }))
  let read = 0
  response.on('data', (chunk: Buffer) => {
    read += chunk.length
    response.pause()
    setTimeout(() => response.resume(), 15)
  })
  await expect.poll(() => read).toBeGreaterThan(14 * MB)
  response.destroy()
  expect(app.counts.get('slow_reader') ?? 0).toBe(0)
})

/** A client that listens, and reads nothing after the acknowledgement. Returns a function that disconnects it. */
async function listening(
  kind: 'http' | 'tcp',
  port: number,
  { body, headers }: ReturnType<typeof headed>,
): Promise<() => void> {
  if (kind === 'http') {
    const response = await begin(port, { body, headers })
    if (response.statusCode !== 200) throw new Error(`listening was answered with ${response.statusCode}`)
    response.on('error', () => undefined).pause()
    return () => void response.destroy()
  }
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  socket.write(`${body}\n`)
  expect(String(await once(socket, 'data'))).toContain('acknowledged')
  socket.pause()
  return () => void socket.destroy()
}

test.each(['http', 'tcp'] as const)(
  'results of followed tasks are not read for clients that leave too much unread together, over %s',
  async (kind) => {
    const gate = new Gate()
    const app = long(12 * MB, { unsentBytes: 32 * MB, keepAliveMs: 60_000 }, gate)
    const { port } = await start(app)
    const [id] = await begun(port, 1)
    const running = await app.listen({ tcp: { port: 0 } })
    onTestFinished(() => running.close())
    const place = kind === 'http' ? port : Number(new URL(running.addresses.tcp!).port)
    const request = headed(LISTEN, { notifications: { taskIds: [id] }, _meta: DECLARED })
    const all = await Promise.all(Array.from({ length: 20 }, () => listening(kind, place, request)))
    const { write } = budgetsOf(serviceOf(app), app.limits)
    let most = 0
    const count = vi.spyOn(write, 'count').mockImplementation(function (...given) {
      WritePool.prototype.count.apply(write, given)
      most = Math.max(most, write.total)
    })
    gate.open()
    await expect.poll(() => most).toBeGreaterThan(8 * MB)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    count.mockRestore()
    expect(most).toBeLessThan(50 * MB)
    for (const leave of all) leave()
  },
)
