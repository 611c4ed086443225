import { expect, test } from 'vitest'
import { connect, ToolError, type Progress } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { TASKS_EXTENSION } from '../../src/protocol/meta.ts'
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
} from './task-server.ts'
import type { Message, Peer, Scripted } from './scripted.ts'
import { failureOf } from '../harness/failure.ts'

function methods(sent: readonly JsonObject[]): readonly unknown[] {
  return sent.map(({ method }) => method).filter((method) => String(method).startsWith('tasks/'))
}

test('a call waits for its task, which the client allows in every request', async () => {
  const server = extensionServer({
    'tasks/get': oneByOne(
      extensionTask('working'),
      extensionTask('completed', { result: content('done', { _meta: { a: 1 } }) }),
    ),
  })
  await using client = await connect(server)
  expect(await client.callRaw('render')).toEqual(content('done', { _meta: { a: 1 } }))
  expect(methods(server.sent())).toEqual(['tasks/get', 'tasks/get'])
  for (const { params = {} } of server.sent() as readonly Message[])
    expect((params['_meta'] as JsonObject)['io.modelcontextprotocol/clientCapabilities']).toEqual({
      extensions: { [TASKS_EXTENSION]: {} },
    })
})

test('a task of a tool that failed is a ToolError, and one that failed throws its error', async () => {
  const server = extensionServer({
    'tasks/get': oneByOne(
      extensionTask('completed', { result: content('no film', { isError: true }) }),
      extensionTask('failed', { error: { code: -32050, message: 'broken' } }),
      extensionTask('cancelled', { statusMessage: 'too late' }),
    ),
  })
  await using client = await connect(server)
  await expect(client.call('render')).rejects.toThrow(new ToolError('no film'))
  expect(await failureOf(client.call('render'))).toMatchObject({ code: -32050, message: 'broken' })
  expect(await failureOf(client.call('render'))).toMatchObject({
    kind: 'task_cancelled',
    data: { message: 'too late' },
  })
})

test('the output of a task is checked like any other', async () => {
  const outputSchema = { type: 'object', properties: { high: { type: 'number' } }, required: ['high'] }
  const server = extensionServer({
    'tools/list': () => ({ tools: [{ name: 'render', inputSchema: { type: 'object' }, outputSchema }] }),
    'tasks/get': oneByOne(
      extensionTask('completed', { result: content('x', { structuredContent: { high: 1 } }) }),
      extensionTask('completed', { result: content('x', { structuredContent: { high: 'one' } }) }),
    ),
  })
  await using client = await connect(server)
  await client.tools().toArray()
  expect(await client.call('render')).toEqual({ high: 1 })
  const task = await client.start('render')
  expect(await failureOf(task.result())).toMatchObject({ kind: 'bad_answer' })
})

test('questions of a task are answered once each, as soon as there is an answer', async () => {
  const ask = (message: string): JsonObject => ({
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  })
  const answers = new Map<string, unknown>()
  const server = extensionServer({
    'tasks/get': () => {
      const first = { first: ask('one'), slow: ask('two') }
      const questions = answers.has('first') ? { slow: ask('two'), later: ask('three') } : first
      if (answers.size === 3) return extensionTask('completed', { result: content('done') })
      return extensionTask('input_required', { inputRequests: questions })
    },
    'tasks/update': ({ params }) => {
      for (const [key, value] of Object.entries(params?.['inputResponses'] as JsonObject))
        answers.set(key, value)
      return {}
    },
  })
  const asked: string[] = []
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await using client = await connect(server, {
    answers: {
      elicit: async ({ message }) => {
        asked.push(message)
        if (message === 'two') await released
        if (message === 'three') release()
        return { action: 'accept', content: { message } }
      },
    },
  })
  expect(await client.call('render')).toBe('done')
  expect(asked).toEqual(['one', 'two', 'three'])
  expect(answers.get('slow')).toEqual({ action: 'accept', content: { message: 'two' } })
  expect(methods(server.sent()).filter((method) => method === 'tasks/update')).toHaveLength(3)
})

test('a call that is aborted, or takes too long, cancels its task', async () => {
  const server = extensionServer({
    'tasks/get': () => extensionTask('working'),
    'tasks/cancel': () => ({}),
  })
  await using client = await connect(server)
  const stop = new AbortController()
  const aborted = failureOf(client.call('render', {}, { signal: stop.signal }))
  await server.until(({ method }) => method === 'tasks/get')
  stop.abort()
  expect(await aborted).toMatchObject({ kind: 'cancelled' })
  const cancelled = await server.until(({ method }) => method === 'tasks/cancel')
  expect(cancelled.params).toMatchObject({ taskId: ID })
  expect(await failureOf(client.call('render', {}, { total: '300ms' }))).toMatchObject({ kind: 'timeout' })
})

test('a task that the server no longer knows is unknown_task', async () => {
  const server = extensionServer({
    'tasks/get': (_, peer) => {
      peer.refuse(-32602, 'no such task')
      return undefined
    },
  })
  await using client = await connect(server)
  expect(await failureOf(client.call('render'))).toMatchObject({ kind: 'unknown_task' })
  expect(await failureOf(client.resume('gone'))).toMatchObject({ kind: 'unknown_task' })
})

test('a handle has an id, a status, progress and a result', async () => {
  const server = extensionServer({
    'tasks/get': oneByOne(
      extensionTask('working', { statusMessage: 'drawing' }),
      extensionTask('working', { statusMessage: 'cutting' }),
      extensionTask('completed', { statusMessage: 'packed', result: content('a film') }),
    ),
  })
  await using client = await connect(server)
  const task = await client.start('render', {}, { ttl: '1h' })
  expect(task.id).toBe(ID)
  expect(await task.status()).toMatchObject({ status: 'working', message: 'drawing', ttlMs: 60_000 })
  const messages: unknown[] = []
  for await (const progress of task.progress()) messages.push(progress)
  expect(messages).toEqual([{ message: 'drawing' }, { message: 'cutting' }, { message: 'packed' }])
  expect(await task.result()).toBe('a film')
  expect(await task.result()).toBe('a film')
  expect(await task.status()).toMatchObject({ status: 'completed' })
  await task.cancel()
})

test('the messages of a task are reports for onProgress without numbers, after those of the call', async () => {
  const server: Scripted = extensionServer({
    'tools/call': ({ params: given = {} }) => {
      const { progressToken } = given['_meta'] as JsonObject
      const params = { progressToken, progress: 3, total: 9, message: 'begun' }
      server.say({ method: 'notifications/progress', params })
      return { resultType: 'task', ...extensionTask('working', { statusMessage: 'begun' }) }
    },
    'tasks/get': oneByOne(
      extensionTask('working', { statusMessage: 'drawing' }),
      extensionTask('completed', { statusMessage: 'packed', result: content('a film') }),
    ),
  })
  await using client = await connect(server)
  const seen: unknown[] = []
  const onProgress = (progress: Progress): void => void seen.push(progress)
  await client.call('render', {}, { onProgress })
  expect(seen).toEqual([
    expect.objectContaining({ progress: 3, total: 9, message: 'begun' }),
    { message: 'drawing' },
    { message: 'packed' },
  ])
})

test('the handle of a call that was answered directly has ended', async () => {
  const server = extensionServer({ 'tools/call': () => content('at once') })
  await using client = await connect(server)
  const task = await client.start('render')
  expect(task.id).toBeUndefined()
  expect(await task.status()).toMatchObject({ status: 'completed' })
  expect(await task.result()).toBe('at once')
  for await (const _ of task.progress()) throw new Error('there is no progress')
  await task.cancel()
  expect(methods(server.sent())).toEqual([])
})

test('waiting for a handle can be given up, and begun again', async () => {
  let isDone = false
  const server = extensionServer({
    'tasks/get': () =>
      isDone ? extensionTask('completed', { result: content('done') }) : extensionTask('working'),
  })
  await using client = await connect(server)
  const task = await client.start('render')
  expect(await failureOf(task.result({ total: 200 }))).toMatchObject({
    kind: 'timeout',
    message: 'the task did not end within 200 ms',
  })
  expect(await failureOf(task.result({ signal: AbortSignal.abort() }))).toMatchObject({ kind: 'cancelled' })
  expect(methods(server.sent())).not.toContain('tasks/cancel')
  isDone = true
  expect(await task.result()).toBe('done')
})

test('another client resumes a task by its id', async () => {
  const server = extensionServer({
    'tasks/get': ({ params }) =>
      params?.['taskId'] === ID
        ? extensionTask('completed', { result: content('done') })
        : extensionTask('working'),
  })
  await using client = await connect(server)
  const task = await client.resume<string>(ID)
  expect(await task.result()).toBe('done')
  expect(await failureOf(client.resume('other'))).toMatchObject({ kind: 'bad_answer' })
  expect(await failureOf(client.resume(''))).toMatchObject({ kind: 'bad_option' })
})

test('a server without tasks cannot resume one', async () => {
  const older = coreServer({
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'older', version: '1' },
    }),
  })
  await using other = await connect(older)
  expect(await failureOf(other.resume(ID))).toMatchObject({ kind: 'not_offered' })
})

test('at 2025-11-25 a tool that must be a task is called as one, listed or not', async () => {
  const server = coreServer({
    'tasks/get': () => coreTask('working'),
    'tasks/result': () => related(content('a film')),
  })
  await using client = await connect(server)
  expect(await client.callRaw('render')).toEqual(content('a film'))
  expect(await client.call('render')).toBe('a film')
  const calls = (server.sent() as readonly Message[]).filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => params?.['task'])).toEqual([undefined, {}, {}])
})

test('at 2025-11-25 start asks for a task if the tool allows it, with a ttl', async () => {
  const turns = {
    'tasks/get': () => coreTask('working'),
    'tasks/result': () => related(content('a film')),
  }
  const optional = coreServer(turns, 'optional')
  await using client = await connect(optional)
  const task = await client.start('render', {}, { ttl: '1h' })
  expect(task.id).toBe(ID)
  expect(await task.result()).toBe('a film')
  const asked = await optional.until(({ method }) => method === 'tools/call')
  expect(asked.params?.['task']).toEqual({ ttl: 3_600_000 })
  const forbidden = coreServer({ ...turns, 'tools/call': () => content('direct') }, 'forbidden')
  await using other = await connect(forbidden)
  expect((await other.start('render')).id).toBeUndefined()
})

test('at 2025-11-25 a lost result is asked for again, and progress has numbers', async () => {
  let results = 0
  const server: Scripted = coreServer({
    'tasks/get': () => coreTask(results === 0 ? 'working' : 'completed'),
    'tasks/result': () => {
      const sent = server.sent() as readonly Message[]
      const { params = {} } = sent.find((message) => message.params?.['task'] !== undefined) ?? {}
      const token = (params['_meta'] as JsonObject)['progressToken']
      server.say({ method: 'notifications/progress', params: { progressToken: token, progress: ++results } })
      return results === 1 ? undefined : related(content('a film'))
    },
  })
  await using client = await connect(server)
  const seen: unknown[] = []
  const onProgress = ({ progress }: Progress): void => void seen.push(progress)
  expect(await client.call('render', {}, { onProgress })).toBe('a film')
  expect(seen).toEqual([1, 2])
})

test('at 2025-11-25 progress is one growing sequence without texts that are older', async () => {
  let polls = 0
  let waiting: Peer | undefined
  const server: Scripted = coreServer({
    'tasks/get': () => {
      if (++polls === 3) waiting?.reply(related(content('a film')))
      return coreTask(polls < 3 ? 'working' : 'completed', { statusMessage: `old ${polls}` })
    },
    'tasks/result': (_, peer) => {
      waiting = peer
      const sent = server.sent() as readonly Message[]
      const { params = {} } = sent.find((message) => message.params?.['task'] !== undefined) ?? {}
      const { progressToken } = params['_meta'] as JsonObject
      for (const progress of [1, 3, 2])
        server.say({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 4, message: `step ${progress}`, _meta: { a: 1 } },
        })
      return undefined
    },
  })
  await using client = await connect(server)
  const task = await client.start('render')
  const seen: unknown[] = []
  for await (const progress of task.progress()) seen.push(progress)
  expect(seen).toEqual([
    { progress: 1, total: 4, message: 'step 1' },
    { progress: 3, total: 4, message: 'step 3' },
  ])
})

test('at 2025-11-25 a task that failed throws its error, and a cancelled one says so', async () => {
  let status = 'failed'
  const server = coreServer({
    'tasks/get': () => coreTask(status),
    'tasks/result': (_, peer) => {
      if (status === 'failed') peer.refuse(-32050, 'broken')
      return undefined
    },
  })
  await using client = await connect(server)
  expect(await failureOf(client.call('render'))).toMatchObject({ code: -32050 })
  status = 'cancelled'
  expect(await failureOf(client.call('render'))).toMatchObject({ kind: 'task_cancelled' })
})

test('a call whose task expires ends with that error soon after its ttl, although nobody reports it', async () => {
  let stopped: unknown
  const app = createServer({ name: 'films', version: '1', log: () => undefined }).tool(
    'render',
    { task: { mode: 'required', ttl: '1s', poll: '10s' } },
    async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      stopped = signal.reason
    },
  )
  await using client = await testClient(app)
  const begun = performance.now()
  await expect(client.call('render')).rejects.toMatchObject({ kind: 'task_expired' })
  // Without that, the next poll would have come after 30 s.
  expect(performance.now() - begun).toBeLessThan(20_000)
  await app.close()
  expect(stopped).toBeDefined()
})

test('a task that a server forgets before its ttl is over is an unknown one', async () => {
  const server = extensionServer({
    'tasks/get': () => {
      throw Object.assign(new Error('unknown task'), { code: -32602 })
    },
  })
  await using client = await connect(server)
  expect(await failureOf(client.call('render'))).toMatchObject({ kind: 'unknown_task' })
})
