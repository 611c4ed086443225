import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { failureOf } from '../harness/failure.ts'
import type { Message, Scripted } from './scripted.ts'
import { content, extensionServer, extensionTask, ID, type Turn } from './task-server.ts'

/** A server that reports the end of its task on the stream of whoever listens, and otherwise answers as a test wants. */
function reporting(end: JsonObject, get: Turn): Scripted {
  const server = extensionServer({
    'tasks/get': get,
    'subscriptions/listen': ({ id }) => {
      const _meta = { [META.subscriptionId]: id }
      const method = 'notifications/subscriptions/acknowledged'
      server.say({ method, params: { notifications: { taskIds: [ID] }, _meta } })
      server.say({ method: 'notifications/tasks', params: { ...end, _meta } })
      return undefined
    },
  })
  return server
}

function count(server: Scripted, wanted: string): number {
  return (server.sent() as readonly Message[]).filter(({ method }) => method === wanted).length
}

test('a result that the server reports by itself is not asked for again', async () => {
  const end = extensionTask('completed', { result: content('a film'), statusMessage: 'packed' })
  const server = reporting(end, () => extensionTask('working'))
  await using client = await connect(server)
  const task = await client.start('render')
  const messages: unknown[] = []
  for await (const { message } of task.progress()) messages.push(message)
  expect(messages).toEqual(['packed'])
  expect(await task.result()).toBe('a film')
  expect(await task.status()).toMatchObject({ status: 'completed' })
  // When the server began to report, the task might have ended before.
  expect(count(server, 'tasks/get')).toBeLessThan(2)
})

test('nor one that the server reports before it answers an earlier question', async () => {
  const server: Scripted = extensionServer({
    'tasks/get': () => {
      const params = extensionTask('completed', { result: content('a film') })
      if (count(server, 'tasks/get') === 1) server.say({ method: 'notifications/tasks', params })
      return extensionTask('working', { pollIntervalMs: 20_000 })
    },
  })
  await using client = await connect(server)
  const task = await client.start('render')
  expect(await task.result()).toBe('a film')
  expect(await task.status()).toMatchObject({ status: 'completed' })
  expect(count(server, 'tasks/get')).toBe(1)
})

test('nor are the other ends of a task', async () => {
  const failed = extensionTask('failed', { error: { code: -32050, message: 'broken' } })
  const cancelled = extensionTask('cancelled', { statusMessage: 'too late' })
  for (const [end, how] of [
    [failed, { code: -32050, message: 'broken' }],
    [cancelled, { kind: 'task_cancelled', data: { message: 'too late' } }],
  ] as const) {
    await using client = await connect(reporting(end, () => extensionTask('working')))
    expect(await failureOf(client.call('render'))).toMatchObject(how)
  }
})

test.each([
  extensionTask('completed'),
  extensionTask('failed'),
  extensionTask('completed', { result: 7 }),
  { ...extensionTask('completed', { result: content('of another') }), taskId: 'task-2' },
])('the client asks how a task ended if the server reports less: %j', async (end) => {
  const server = reporting(end, () => extensionTask('completed', { result: content('a film') }))
  await using client = await connect(server)
  expect(await client.call('render')).toBe('a film')
})

test('a task that has ended when it is resumed is asked for once', async () => {
  const server = reporting(extensionTask('working'), () =>
    extensionTask('completed', { result: content('a film'), statusMessage: 'packed' }),
  )
  await using client = await connect(server)
  const task = await client.resume(ID)
  expect(await task.status()).toMatchObject({ status: 'completed' })
  const messages: unknown[] = []
  for await (const { message } of task.progress()) messages.push(message)
  expect(messages).toEqual(['packed'])
  expect(await task.result()).toBe('a film')
  expect([count(server, 'tasks/get'), count(server, 'subscriptions/listen')]).toEqual([1, 0])
})
