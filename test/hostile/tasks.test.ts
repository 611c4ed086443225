import { expect, test } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import {
  content,
  coreServer,
  coreTask,
  extensionServer,
  extensionTask,
  ID,
  oneByOne,
  related,
  type Turn,
} from '../client/task-server.ts'
import { CAPABILITIES, scripted, type Scripted } from '../client/scripted.ts'
import { failureOf } from '../harness/failure.ts'
import { heldHeap } from '../harness/memory.ts'

const DONE = extensionTask('completed', { result: content('done') })

async function attacked(
  get: Turn,
  more: Readonly<Record<string, Turn>> = {},
  options: ConnectOptions = {},
): Promise<{ readonly client: Client; readonly server: Scripted } & AsyncDisposable> {
  const server = extensionServer({ 'tasks/get': get, 'tasks/cancel': () => undefined, ...more })
  const client = await connect(server, { timeout: '30s', ...options })
  return { client, server, [Symbol.asyncDispose]: () => client.close() }
}

function count(server: Scripted, name: string): number {
  return server.sent().filter(({ method }) => method === name).length
}

test('C.task-endless a task that never ends, and cannot be cancelled, ends with the call', async () => {
  await using met = await attacked(() => extensionTask('working'))
  expect(await failureOf(met.client.call('x', {}, { total: 500 }))).toMatchObject({ kind: 'timeout' })
  await met.server.until(({ method }) => method === 'tasks/cancel')
  expect(count(met.server, 'tasks/get')).toBeLessThanOrEqual(5)
})

test.each([0, -1, -1e300, 1e-300, '5', null, {}, []])(
  'C.task-poll a poll interval of %j is not obeyed',
  async (pollIntervalMs) => {
    let polls = 0
    await using met = await attacked(
      () => {
        polls++
        return polls < 3 ? extensionTask('working', { pollIntervalMs: 0 }) : DONE
      },
      { 'tools/call': () => ({ ...extensionTask('working', { pollIntervalMs }), resultType: 'task' }) },
    )
    expect(await met.client.call('x')).toBe('done')
  },
)

test('C.task-poll a huge poll interval is cut, and does not outlive the call', async () => {
  const pollIntervalMs = 1e300
  await using met = await attacked(() => extensionTask('working', { pollIntervalMs }), {
    'tools/call': () => ({ ...extensionTask('working', { pollIntervalMs }), resultType: 'task' }),
  })
  expect(await failureOf(met.client.call('x', {}, { total: 200 }))).toMatchObject({ kind: 'timeout' })
})

test.each<readonly [string, JsonObject, RegExp]>([
  ['another id', { ...DONE, taskId: 'task-2' }, /another task/],
  ['no id', { ...DONE, taskId: undefined }, /another task/],
  ['an unknown status', { ...DONE, status: 'exploded' }, /"exploded"/],
  ['a status that is no text', { ...DONE, status: { toString: 1 } }, /unknown/],
  ['no result', extensionTask('completed'), /not an object/],
  ['a result that is a list', extensionTask('completed', { result: [] as never }), /not an object/],
  ['a result without content', extensionTask('completed', { result: { content: 'x' } }), /content/],
  [
    'a task inside a task',
    extensionTask('completed', { result: { ...DONE, resultType: 'task' } }),
    /not complete/,
  ],
  [
    'a round inside a task',
    extensionTask('completed', { result: { resultType: 'input_required', inputRequests: {} } }),
    /not complete/,
  ],
  ['an unknown result type', extensionTask('completed', { result: { resultType: 'x' } }), /result type/],
  ['no error', extensionTask('failed'), /without an error/],
  [
    'an error that is none',
    extensionTask('failed', { error: { code: 'x', message: 1 } }),
    /without an error/,
  ],
  ['no questions', extensionTask('input_required'), /inputRequests/],
  ['questions in a list', extensionTask('input_required', { inputRequests: [] as never }), /inputRequests/],
  [
    'a question that is a call',
    extensionTask('input_required', { inputRequests: { a: { method: 'tools/call', params: {} } } }),
    /not allowed/,
  ],
  [
    'a question that is nothing',
    extensionTask('input_required', { inputRequests: { a: null } }),
    /not allowed/,
  ],
])('C.task-answers %s is an invalid answer', async (_, task, message) => {
  await using met = await attacked(() => task)
  const error = await failureOf(met.client.call('x'))
  expect(error.kind).toBe('bad_answer')
  expect(error.message).toMatch(message)
})

test('C.task-answers a task that gets or has a task for a result is an invalid answer', async () => {
  await using met = await attacked(() => ({ ...DONE, resultType: 'task' }))
  expect(await failureOf(met.client.call('x'))).toMatchObject({ kind: 'bad_answer' })
})

test.each([undefined, 1, '', 'x'.repeat(10_000), {}])(
  'C.task-answers the id %j is invalid',
  async (taskId) => {
    await using met = await attacked(() => DONE, {
      'tools/call': () => ({ ...extensionTask('working'), taskId, resultType: 'task' }),
    })
    expect(await failureOf(met.client.call('x'))).toMatchObject({ kind: 'bad_answer' })
  },
)

test('C.task-final a status never leaves its end', async () => {
  await using met = await attacked(oneByOne(DONE, extensionTask('working'), extensionTask('failed')))
  const task = await met.client.start('x')
  expect(await task.status()).toMatchObject({ status: 'completed' })
  expect(await task.status()).toMatchObject({ status: 'completed' })
  expect(count(met.server, 'tasks/get')).toBe(1)
})

const ask = (message: string): JsonObject => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} } },
})
const answers = { elicit: () => ({ action: 'decline' as const }) }

test('C.task-questions ten thousand questions at once are not answered', async () => {
  const entries = Array.from({ length: 10_000 }, (_, index) => [`k${index}`, ask('?')])
  await using met = await attacked(
    () => extensionTask('input_required', { inputRequests: Object.fromEntries(entries) }),
    { 'tasks/update': () => ({}) },
    { answers },
  )
  expect(await failureOf(met.client.call('x'))).toMatchObject({ kind: 'bad_answer' })
  expect(count(met.server, 'tasks/update')).toBe(0)
})

test('C.task-questions another question under the same key is not answered', async () => {
  let message = 'delete one file?'
  await using met = await attacked(
    () => extensionTask('input_required', { inputRequests: { a: ask(message) } }),
    {
      'tasks/update': () => {
        message = 'delete all files?'
        return {}
      },
    },
    { answers },
  )
  const error = await failureOf(met.client.call('x'))
  expect(error.message).toMatch(/another question under the key "a"/)
  expect(count(met.server, 'tasks/update')).toBe(1)
})

test('C.task-questions names such as __proto__ are keys like others', async () => {
  const inputRequests = JSON.parse(`{"__proto__":${JSON.stringify(ask('?'))}}`) as JsonObject
  await using met = await attacked(
    oneByOne(extensionTask('input_required', { inputRequests }), DONE),
    { 'tasks/update': () => ({}) },
    { answers },
  )
  expect(await met.client.call('x')).toBe('done')
  const update = await met.server.until(({ method }) => method === 'tasks/update')
  expect(JSON.stringify(update.params?.['inputResponses'])).toBe('{"__proto__":{"action":"decline"}}')
})

test('C.task-undeclared tasks of servers and methods that have none are invalid answers', async () => {
  const created = { resultType: 'task', ...extensionTask('working') }
  const server = scripted('2026-07-28', ({ method }, peer) => {
    if (method === 'server/discover') return false
    peer.reply(created)
    return true
  })
  await using client = await connect(server)
  const error = await failureOf(client.call('x'))
  expect(error).toMatchObject({ kind: 'bad_answer' })
  expect(error.message).toMatch(/did not declare/)
  expect(await failureOf(client.start('x'))).toMatchObject({ kind: 'bad_answer' })
  await using met = await attacked(() => DONE, {
    'resources/read': () => created,
    'prompts/get': () => created,
    'tools/list': () => created,
    'completion/complete': () => created,
  })
  expect(await failureOf(met.client.read('a://b'))).toMatchObject({ kind: 'bad_answer' })
  expect(await failureOf(met.client.prompt('x'))).toMatchObject({ kind: 'bad_answer' })
  expect(await failureOf(met.client.tools().toArray())).toMatchObject({ kind: 'bad_answer' })
  expect(await failureOf(met.client.complete('x', { name: 'a', value: '' }))).toMatchObject({
    kind: 'bad_answer',
  })
  expect(count(met.server, 'tasks/get')).toBe(0)
})

test('C.task-message a message of 10 MB is cut, and no more than a hundred are kept', async () => {
  let polls = 0
  await using met = await attacked(() => {
    polls++
    return polls < 3 ? extensionTask('working', { statusMessage: `${polls}${'x'.repeat(10_000_000)}` }) : DONE
  })
  const task = await met.client.start('x')
  const progress = task.progress()
  const first = await progress.next()
  expect(first.value?.message).toHaveLength(4096)
  for (let index = 0; index < 5000; index++) {
    const params = extensionTask('working', { statusMessage: `${index}${'y'.repeat(5000)}` })
    met.server.say({ method: 'notifications/tasks', params })
  }
  const last = extensionTask('working', { statusMessage: 'the last' })
  met.server.say({ method: 'notifications/tasks', params: last })
  await met.server.until(({ method }) => method === 'tasks/get')
  expect(heldHeap()).toBeLessThan(200_000_000)
  const rest: unknown[] = []
  for await (const { message } of progress) rest.push(message)
  expect(rest.length).toBeLessThanOrEqual(101)
  expect(rest).toContain('the last')
})

test('C.task-foreign notifications about other tasks, and floods of them, change nothing', async () => {
  let isDone = false
  await using met = await attacked(
    () => (isDone ? DONE : extensionTask('working', { pollIntervalMs: 1e9 })),
    {
      'tools/call': () => ({ ...extensionTask('working', { pollIntervalMs: 1e9 }), resultType: 'task' }),
    },
  )
  const result = met.client.call('x')
  await met.server.until(({ method }) => method === 'subscriptions/listen')
  const foreign = { ...DONE, taskId: 'other' }
  for (let index = 0; index < 1000; index++)
    met.server.say({ method: 'notifications/tasks', params: foreign })
  for (const params of [{}, { taskId: 1 }, { taskId: null }] as JsonObject[])
    met.server.say({ method: 'notifications/tasks', params })
  await met.client.ping()
  expect(count(met.server, 'tasks/get')).toBe(0)
  for (let index = 0; index < 1000; index++)
    met.server.say({
      method: 'notifications/tasks',
      params: extensionTask('completed', { result: 'forged' }),
    })
  await met.server.until(({ method }) => method === 'tasks/get')
  isDone = true
  met.server.say({ method: 'notifications/tasks', params: DONE })
  expect(await result).toBe('done')
  expect(count(met.server, 'tasks/get')).toBeLessThanOrEqual(3)
})

test('C.task-cancel a cancellation that is never answered does not hold up the caller', async () => {
  await using met = await attacked(() => extensionTask('working'))
  const stop = new AbortController()
  const result = failureOf(met.client.call('x', {}, { signal: stop.signal }))
  await met.server.until(({ method }) => method === 'tasks/get')
  stop.abort()
  expect(await result).toMatchObject({ kind: 'cancelled' })
  const task = await met.client.start('x')
  expect(await failureOf(task.cancel({ total: 100 }))).toMatchObject({ kind: 'timeout' })
})

test.each<readonly [string, Readonly<Record<string, Turn>>, RegExp]>([
  ['a task that is a list', { 'tools/call': () => ({ task: [] as never }) }, /content/],
  ['a task without an id', { 'tools/call': () => ({ task: {} }) }, /taskId/],
  ['a task with an unknown status', { 'tools/call': () => ({ task: coreTask('x') }) }, /status/],
  ['the result of another task', { 'tasks/result': () => related(content('x'), 'task-2') }, /another task/],
  ['a result that is a task', { 'tasks/result': () => ({ task: coreTask('working') }) }, /content/],
  [
    'another id',
    { 'tasks/get': () => coreTask('working', { taskId: 'x' }), 'tasks/result': () => undefined },
    /another/,
  ],
])('C.task-answers %s is an invalid answer at 2025-11-25', async (_, turns, message) => {
  const server = coreServer({ 'tasks/get': () => coreTask('completed'), ...turns })
  await using client = await connect(server)
  await client.tools().toArray()
  const error = await failureOf(client.call('render', {}, { total: '20s' }))
  expect(error.kind).toBe('bad_answer')
  expect(error.message).toMatch(message)
})

test.each([
  { task: coreTask('working') },
  { resultType: 'task', ...content('x'), ...coreTask('working'), token: 1 },
])('C.task-undeclared a task that nobody asked for is an invalid answer at 2025-11-25', async (task) => {
  const server = scripted(
    '2025-11-25',
    ({ method }, peer) => {
      if (method !== 'tools/call') return false
      peer.reply(task)
      return true
    },
    CAPABILITIES,
  )
  await using client = await connect(server)
  expect(await failureOf(client.call('x'))).toMatchObject({ kind: 'bad_answer' })
  expect(ID).toBe('task-1')
})
