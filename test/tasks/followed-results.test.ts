import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { headed } from '../http/messages.ts'
import { begin, send, stream, type Stream } from '../http/wire.ts'
import { start } from '../gist/server.ts'

const MB = 1_000_000
const DECLARED = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } }
const LISTEN = 'subscriptions/listen'

/** A server whose tasks have results of a length. */
function long(length: number, limits: Partial<Limits> = {}): App {
  const app = createServer({ name: 'long', version: '1', log: () => undefined, limits })
  return app.tool('long', { task: 'required' }, () => 'x'.repeat(length))
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

test('results of followed tasks are not read for clients that leave too much unread together', async () => {
  const app = long(12 * MB, { unsentBytes: 32 * MB, keepAliveMs: 60_000 })
  const { port } = await start(app)
  const [id] = await begun(port, 1)
  const { body, headers } = headed(LISTEN, { notifications: { taskIds: [id] }, _meta: DECLARED })
  const { write } = budgetsOf(serviceOf(app), app.limits)
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, write.total)), 1)
  const all = await Promise.all(Array.from({ length: 20 }, () => begin(port, { body, headers })))
  for (const response of all) response.on('error', () => undefined).pause()
  await expect.poll(() => write.total).toBeGreaterThan(8 * MB)
  await new Promise((resolve) => setTimeout(resolve, 2000))
  clearInterval(timer)
  expect(most).toBeLessThan(50 * MB)
  for (const response of all) response.destroy()
})
