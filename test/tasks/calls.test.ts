import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { bearer } from '../../src/auth.ts'
import { token } from '../../src/auth-client.ts'
import { connect } from '../../src/client.ts'
import { createServer, McpError, ToolError, type App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { TaskHead } from '../../src/tasks/record.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { testClient } from '../../src/testing.ts'
import { Door } from '../harness/door.ts'
import { settled } from '../harness/task-clock.ts'

const capabilities = { extensions: { [TASKS_EXTENSION]: {} } }

/** A client at 2026-07-28 in the same process. */
function clientOf(app: App, sub?: string) {
  const waiting = new Map<number, (message: JsonObject) => void>()
  let next = 1
  const end = app.connect({
    receive: (text) => {
      const message = JSON.parse(text) as JsonObject
      waiting.get(message['id'] as number)?.(message)
    },
    ...(sub === undefined ? {} : { auth: { sub } }),
  })
  const request = async (
    method: string,
    params: JsonObject,
    declared: JsonObject = capabilities,
  ): Promise<JsonObject> => {
    const id = next++
    const meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: declared }
    const reply = new Promise<JsonObject>((resolve) => waiting.set(id, resolve))
    end.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }))
    const { result, error } = (await reply) as { result?: JsonObject; error?: JsonObject }
    if (error !== undefined) throw Object.assign(new Error(String(error['message'])), error)
    return result as JsonObject
  }
  return {
    close: () => end.close(),
    request,
    call: (name: string, args: JsonObject = {}, declared?: JsonObject) =>
      request('tools/call', { name, arguments: args }, declared),
  }
}

const named = z.object({ id: z.string() })
const quiet = { name: 'tasks', version: '1', log: () => undefined } as const

test('calls with a key do not parse the arguments of the task that has it', async () => {
  const app = createServer({ ...quiet, limits: { drainMs: 1 } }).tool(
    'work',
    { input: named, task: { mode: 'required', key: ({ id }) => id } },
    () => new Promise<string>(() => undefined),
  )
  const ann = clientOf(app, 'ann')
  const { taskId } = await ann.call('work', { id: 'a', more: { b: [1], a: 'x'.repeat(100_000) } })
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  await expect(ann.call('work', { id: 'a' })).rejects.toThrow('other arguments')
  expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([])
  const again = await ann.call('work', { more: { a: 'x'.repeat(100_000), b: [1] }, id: 'a' })
  expect(again['taskId']).toBe(taskId)
  await app.close()
})

test('calls with the same key join one run, also before it has become a task', async () => {
  const door = new Door()
  let runs = 0
  const app = createServer(quiet).tool(
    'work',
    { input: named, task: { after: '1h', key: ({ id }) => id } },
    async ({ id }) => {
      runs++
      await door.pass(id)
      return `done ${id}`
    },
  )
  const ann = clientOf(app, 'ann')
  const both = [ann.call('work', { id: 'a' }), ann.call('work', { id: 'a' })]
  await expect.poll(() => runs).toBe(1)
  await settled()
  expect(runs).toBe(1)
  door.open('a')
  for (const result of await Promise.all(both))
    expect(result).toMatchObject({ content: [{ text: 'done a' }] })
  // Later calls get the same result, and other callers a run of their own.
  expect(await ann.call('work', { id: 'a' })).toMatchObject({ content: [{ text: 'done a' }] })
  expect(runs).toBe(1)
  door.open('a')
  await clientOf(app, 'bob').call('work', { id: 'a' })
  expect(runs).toBe(2)
  await app.close()
})

test('a key is free again after a failure that the tool meant', async () => {
  let runs = 0
  const app = createServer(quiet).tool('work', { task: { key: () => 'same' } }, () => {
    if (++runs === 1) throw new ToolError('not yet')
    return 'done'
  })
  const ann = clientOf(app, 'ann')
  expect(await ann.call('work')).toMatchObject({ isError: true })
  expect(await ann.call('work')).toMatchObject({ content: [{ text: 'done' }] })
  // Operators see what each task was about.
  const [first, second] = await app.tasks.list()
  expect([first, second]).toMatchObject([
    { key: 'same', isError: true },
    { key: 'same', isError: false },
  ])
  expect(await app.tasks.show(first!.id)).toMatchObject({ key: 'same' })
  await app.close()
})

test('a call with the key of a task but other arguments is rejected', async () => {
  const input = z.object({ id: z.string(), size: z.number().optional() })
  const app = createServer(quiet).tool(
    'work',
    { input, task: { key: ({ id }) => id } },
    ({ size }) => `${size}`,
  )
  const ann = clientOf(app, 'ann')
  await ann.call('work', { id: 'a', size: 1 })
  expect(await ann.call('work', { size: 1, id: 'a' })).toMatchObject({ content: [{ text: '1' }] })
  await expect(ann.call('work', { id: 'a', size: 2 })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('the same key has other arguments') as string,
  })
  await app.close()
})

test('a client learns what to send if the key of a task has other arguments', async () => {
  const input = z.object({ id: z.string(), size: z.number() })
  const app = createServer({ ...quiet, auth: bearer((sub) => ({ sub, scopes: [] })) }).tool(
    'work',
    { input, task: { key: ({ id }) => id } },
    ({ size }) => `${size}`,
  )
  const { url } = await app.listen({ http: { port: 0 } })
  await using client = await connect(url as string, { auth: token(() => 'ann') })
  await client.call('work', { id: 'a', size: 1 })
  await expect(client.call('work', { id: 'a', size: 2 })).rejects.toMatchObject({
    kind: 'bad_params',
    hint: 'Send the arguments of the task with this key, or others that give another key.',
  })
  await app.close()
})

test('no key of a caller is that of a retry', async () => {
  const input = z.object({ id: z.string() })
  const app = createServer(quiet).tool(
    'work',
    { input, task: { mode: 'required', key: ({ id }) => id } },
    ({ id }) => {
      if (id === 'fails') throw new McpError('bad_params', 'no')
      return 'done'
    },
  )
  const ann = clientOf(app, 'ann')
  await ann.call('work', { id: 'fails' })
  await settled()
  const [failed] = await app.tasks.list({ status: 'failed' })
  await ann.call('work', { id: `retry of ${failed!.id}` })
  await settled()
  const [other] = await app.tasks.list({ status: 'completed' })
  const retried = await app.tasks.retry(failed!.id)
  expect(retried?.id).toBeTypeOf('string')
  expect(retried?.id).not.toBe(other!.id)
  await app.close()
})

test('keys are compared as a whole, however long they are', async () => {
  const app = createServer(quiet).tool(
    'work',
    { input: named, task: { mode: 'required', key: ({ id }) => id } },
    () => new Promise(() => undefined),
  )
  const ann = clientOf(app, 'ann')
  const start = async (id: string): Promise<unknown> => (await ann.call('work', { id }))['taskId']
  const long = 'k'.repeat(2000)
  const first = await start(`${long}1`)
  expect(await start(`${long}1`)).toBe(first)
  expect(await start(`${long}2`)).not.toBe(first)
  const { key } = (await app.tasks.list())[0]!
  expect(key.length).toBeLessThanOrEqual(1024)
  await app.close()
})

test('the log says once that a key has no effect for callers that cannot be told apart', async () => {
  const warnings: string[] = []
  const log = (_: string, message: string): void => void warnings.push(message)
  const app = createServer({ ...quiet, log }).tool('work', { task: { key: () => 'same' } }, () => 'done')
  for (const sub of ['ann', undefined, undefined]) await clientOf(app, sub).call('work')
  expect(warnings).toEqual([expect.stringContaining('the option key of tool "work" has no effect')])
  await app.close()
})

test('a list leaves out tasks whose time is over', async () => {
  const hang = () => new Promise(() => undefined)
  const app = createServer({ ...quiet, limits: { drainMs: 1 } }).tool('hang', { task: 'optional' }, hang)
  const ann = await sessionOf(app, 'ann')
  await ann('tools/call', { name: 'hang', task: {} })
  const { task } = (await ann('tools/call', { name: 'hang', task: {} })) as { task: JsonObject }
  const ids = async (): Promise<unknown[]> =>
    ((await ann('tasks/list', {}))['tasks'] as JsonObject[]).map(({ taskId }) => taskId)
  expect(await ids()).toHaveLength(2)
  const { tasks } = await serviceOf(app).tasks.load()
  const [{ id, version }] = (await app.tasks.list()) as [TaskHead]
  // Nothing removes it meanwhile.
  await tasks.upkeep.stop()
  await tasks.store.change(id, version, { ttlMs: 1 })
  await expect.poll(ids).toEqual([task['taskId']])
  await app.close()
})

test('a page has at most 100 tasks, because a store reads more of each than the page shows', async () => {
  const app = createServer(quiet).tool('work', { task: 'optional' }, () => 'done')
  const ann = await sessionOf(app, 'ann')
  for (let count = 0; count < 150; count++) await ann('tools/call', { name: 'work', task: {} })
  const first = await ann('tasks/list', {})
  expect(first['tasks']).toHaveLength(100)
  const rest = await ann('tasks/list', { cursor: first['nextCursor'] })
  expect(rest['tasks']).toHaveLength(50)
  expect(rest['nextCursor']).toBeUndefined()
  await app.close()
})

test('anonymous callers through fetch never share keys or lists', async () => {
  let runs = 0
  const app = createServer(quiet).tool(
    'work',
    { task: { mode: 'required', key: () => 'same' } },
    () => `run ${++runs}`,
  )
  const post = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: capabilities }
    const response = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': String(params['name'] ?? params['taskId']),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
      }),
    )
    return ((await response.json()) as { result: JsonObject }).result
  }
  const tasks = [await post('tools/call', { name: 'work' }), await post('tools/call', { name: 'work' })]
  await settled()
  expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(2)
  expect(runs).toBe(2)
  expect(await post('tasks/get', { taskId: tasks[0]!['taskId'] })).toMatchObject({
    result: { content: [{ text: 'run 1' }] },
  })
  await app.close()
})

test('only so many handlers run at once, whether their calls became tasks or not', async () => {
  const door = new Door()
  const begun: string[] = []
  const app = createServer(quiet).tool(
    'work',
    { input: named, task: { after: 0, concurrency: 1 } },
    async ({ id }) => {
      begun.push(id)
      await door.pass(id)
      return id
    },
  )
  const client = clientOf(app)
  const first = await client.call('work', { id: 'a' })
  const plain = client.call('work', { id: 'b' }, {})
  const second = await client.call('work', { id: 'c' })
  await settled()
  expect([first['resultType'], second['resultType']]).toEqual(['task', 'task'])
  expect(begun).toEqual(['a'])
  door.open('a')
  await settled()
  expect(begun).toEqual(['a', 'b'])
  door.open('b')
  expect(await plain).toMatchObject({ content: [{ text: 'b' }] })
  door.open('c')
  await settled()
  expect(begun).toEqual(['a', 'b', 'c'])
  expect(await client.request('tasks/get', { taskId: second['taskId'] })).toMatchObject({
    status: 'completed',
  })
  await app.close()
})

test('a call goes on as an ordinary call if there is no room for a task', async () => {
  const door = new Door()
  const app = createServer({ ...quiet, limits: { tasks: 1 } })
    .tool('work', { input: named, task: { after: 0 } }, async ({ id }) => {
      await door.pass(id)
      return id
    })
    .tool('must', { task: 'required' }, () => 'must')
  const client = clientOf(app, 'ann')
  expect(await client.call('work', { id: 'a' })).toMatchObject({ resultType: 'task' })
  const second = client.call('work', { id: 'b' })
  await settled()
  await expect(client.call('must')).rejects.toMatchObject({
    code: 1089,
    data: { refusal: { name: 'RESOURCE_EXHAUSTED' } },
  })
  door.open('b')
  expect(await second).toMatchObject({ resultType: 'complete', content: [{ text: 'b' }] })
  door.open('a')
  await app.close()
})

test('a running task keeps nothing of its request that only the first answer needed', async () => {
  const app = createServer(quiet).tool('hang', { task: 'required' }, () => new Promise(() => undefined))
  const client = clientOf(app)
  await client.request('tools/call', {
    name: 'hang',
    inputResponses: { early: { action: 'accept' } },
    task: { ttl: 5 },
  })
  await settled()
  const { tasks } = await serviceOf(app).tasks.load()
  const [run] = tasks.runs.values()
  expect(run?.call.params).toEqual({ name: 'hang' })
  const [task] = await app.tasks.list()
  const record = await tasks.store.get(task!.id)
  expect(JSON.parse(record!.request)).toMatchObject({ params: { name: 'hang' } })
  expect(record!.request).not.toMatch(/early|inputResponses|protocolVersion/)
  expect(run?.call.channel).toBe(run)
  await app.tasks.cancel(task!.id)
  await app.close()
})

test('errors that nobody meant to throw are tried again, with the number of the attempt', async () => {
  const attempts: number[] = []
  const app = createServer(quiet)
    .tool('flaky', { task: { mode: 'required' } }, (_, ctx) => {
      attempts.push(ctx.attempt)
      if (attempts.length < 2) throw new TypeError('broken')
      return 'done'
    })
    .tool('plain', {}, (_, { attempt }) => `${attempt}`)
  const client = clientOf(app)
  expect(await client.call('plain')).toMatchObject({ content: [{ text: '1' }] })
  const { taskId } = await client.call('flaky')
  await settled()
  const failed = await client.request('tasks/get', { taskId })
  // Callers see what a direct call would have answered, and operators a failure.
  const text = expect.stringMatching(/^tool "flaky" failed \(reference /) as string
  expect(failed).toMatchObject({ status: 'completed', result: { isError: true, content: [{ text }] } })
  expect(await app.tasks.show(taskId as string)).toMatchObject({ status: 'failed', statusMessage: text })
  const { id } = await app.tasks.retry(taskId as string)
  expect(id).not.toBe(taskId)
  await expect.poll(async () => (await app.tasks.show(id))?.status).toBe('completed')
  expect(attempts).toEqual([1, 1])
  expect(await app.tasks.show(taskId as string)).toMatchObject({ status: 'failed' })
  await app.close()
})

describe('operators', () => {
  test('list, show, cancel and retry the tasks of everybody', async () => {
    const app = createServer(quiet)
      .tool('hang', { task: 'required' }, () => new Promise(() => undefined))
      .tool('fails', { input: named, task: 'required' }, () => {
        throw new McpError('bad_params', 'no')
      })
    await clientOf(app, 'ann').call('hang')
    await clientOf(app, 'bob').call('fails', { id: 'x' })
    await settled()
    const all = await app.tasks.list()
    expect(all.map(({ tool, status }) => [tool, status])).toEqual([
      ['hang', 'working'],
      ['fails', 'failed'],
    ])
    expect(await app.tasks.list({ status: 'failed' })).toHaveLength(1)
    expect(await app.tasks.list({ tool: 'hang', limit: 5 })).toHaveLength(1)
    expect(await app.tasks.list({ after: all[0]!.id })).toEqual([all[1]])
    expect(await app.tasks.list({ owner: all[1]!.owner })).toEqual([all[1]])
    expect(await app.tasks.list({ owner: '' })).toEqual([])
    expect(await app.tasks.show(all[1]!.id)).toMatchObject({
      arguments: { id: 'x' },
      outcome: { error: { message: 'no' } },
    })
    expect(await app.tasks.show('none')).toBeUndefined()
    expect(await app.tasks.cancel(all[0]!.id)).toMatchObject({ status: 'cancelled' })
    await expect(app.tasks.cancel(all[0]!.id)).rejects.toMatchObject({ kind: 'task_final' })
    await expect(app.tasks.retry(all[0]!.id)).rejects.toMatchObject({ kind: 'task_final' })
    await expect(app.tasks.cancel('none')).rejects.toMatchObject({ kind: 'unknown_task' })
    await expect(app.tasks.list({ status: 'done' as never })).rejects.toThrow(/status must be/)
    await app.close()
  })
})

test('the option task is checked when the tool is defined', () => {
  const define = (task: unknown) => () => createServer(quiet).tool('work', { task: task as never }, () => '')
  expect(define('sometimes')).toThrow(/mode must be 'optional' or 'required'/)
  expect(define(5)).toThrow(/task must be 'optional', 'required' or an object/)
  expect(define({ retires: 3 })).toThrow(/did you mean "retries"/)
  expect(define({ retry: 3 })).toThrow(/did you mean "retries"/)
  expect(define({ ttl: 'long' })).toThrow(/ttl must be a duration/)
  expect(define({ ttl: 0 })).toThrow(/ttl must be a duration above 0/)
  expect(define({ concurrency: 0 })).toThrow(/concurrency must be a whole number above 0/)
  expect(define({ key: 'id' })).toThrow(/key must be a function/)
  expect(() => createServer({ ...quiet, store: { tasks: {} as never } })).toThrow(
    /tasks has no function create/,
  )
  const opening: unknown = Promise.resolve({})
  expect(() => createServer({ ...quiet, store: opening as never })).toThrow(/store is a promise; await it/)
})

test('tools that may repeat their work begin again after a restart unless they say otherwise', () => {
  const app = createServer(quiet)
    .tool('plain', { task: 'optional' }, () => '')
    .tool('idempotent', { hints: { idempotent: true }, task: 'optional' }, () => '')
    .tool('stubborn', { hints: { idempotent: true }, task: { onRestart: 'fail' } }, () => '')
  const plan = (name: string) => serviceOf(app).tools.items.get(name)?.task?.onRestart
  expect(['plain', 'idempotent', 'stubborn'].map(plan)).toEqual(['fail', 'retry', 'fail'])
  app.update('tool', 'plain', { task: { onRestart: 'retry' } })
  expect(plan('plain')).toBe('retry')
})

test('to others, a task does not exist, whatever they do with its id', async () => {
  const app = createServer({ ...quiet, limits: { drainMs: 1 } }).tool(
    'hang',
    { task: 'required' },
    () => new Promise(() => undefined),
  )
  const { taskId } = await clientOf(app, 'ann').call('hang')
  const bob = clientOf(app, 'bob')
  for (const [method, more] of [
    ['tasks/get', {}],
    ['tasks/cancel', {}],
    ['tasks/update', { inputResponses: {} }],
  ] as const) {
    const foreign = await bob.request(method, { taskId, ...more }).catch((error: unknown) => error)
    const random = await bob
      .request(method, { taskId: 'A'.repeat(31), ...more })
      .catch((error: unknown) => error)
    const said = (error: unknown): string => JSON.stringify(error).replaceAll(/[\w-]{24}/g, 'ID')
    expect(said(foreign)).toBe(said(random))
    expect(foreign).toMatchObject({ code: -32602 })
  }
  await app.close()
})

test('a server without tasks loads nothing of them', async () => {
  const app = createServer(quiet).tool('plain', {}, () => 'plain')
  await clientOf(app).call('plain')
  expect(serviceOf(app).tasks.isLoaded).toBe(false)
  await app.close()
  // The flag is worth nothing if it never is true.
  const other = createServer(quiet).tool('task', { task: 'optional' }, () => 'task')
  await clientOf(other).call('task')
  expect(serviceOf(other).tasks.isLoaded).toBe(true)
  await other.close()
})

test('at 2025-11-25 too, a task belongs to its owner; others are refused as if it did not exist [R245]', async () => {
  const app = createServer({ ...quiet, limits: { drainMs: 1 } }).tool(
    'hang',
    { task: 'optional' },
    () => new Promise(() => undefined),
  )
  const ann = await sessionOf(app, 'ann')
  const { task } = (await ann('tools/call', { name: 'hang', task: {} })) as { task: JsonObject }
  const { taskId } = task
  for (const sub of ['bob', undefined]) {
    const other = await sessionOf(app, sub)
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const said = async (id: unknown): Promise<string> =>
        JSON.stringify(await other(method, { taskId: id }).catch((error: unknown) => error)).replaceAll(
          /[\w-]{24}/g,
          'ID',
        )
      expect(await said(taskId)).toBe(await said('A'.repeat(31)))
      await expect(other(method, { taskId })).rejects.toMatchObject({ code: -32602 })
    }
    expect(await other('tasks/list', {})).toEqual({ tasks: [] })
  }
  // The same caller reaches it from another session.
  const again = await sessionOf(app, 'ann')
  expect(await again('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' })
  expect(await again('tasks/list', {})).toMatchObject({ tasks: [{ taskId }] })
  await app.close()
})

/** A session at 2025-11-25 in the same process. */
async function sessionOf(
  app: App,
  sub?: string,
): Promise<(method: string, params: JsonObject) => Promise<JsonObject>> {
  const waiting = new Map<number, (message: JsonObject) => void>()
  let next = 1
  const end = app.connect({
    receive: (text) => {
      const message = JSON.parse(text) as JsonObject
      waiting.get(message['id'] as number)?.(message)
    },
    ...(sub === undefined ? {} : { auth: { sub } }),
  })
  const request = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const id = next++
    const reply = new Promise<JsonObject>((resolve) => waiting.set(id, resolve))
    end.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const { result, error } = (await reply) as { result?: JsonObject; error?: JsonObject }
    if (error !== undefined) throw Object.assign(new Error(String(error['message'])), error)
    return result as JsonObject
  }
  const clientInfo = { name: 'c', version: '1' }
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return request
}

test('a call that waits for an answer leaves its place, and takes one again when it goes on', async () => {
  const asked = new Deferred<void>()
  const answer = new Deferred<{ action: 'decline' }>()
  let running = 0
  const seen: number[] = []
  const app = createServer(quiet).tool(
    'book',
    { input: named, task: { concurrency: 1 } },
    async ({ id }, { elicit }) => {
      seen.push(++running)
      running--
      if (id === 'slow') await elicit('Sure?', z.object({ sure: z.boolean() }))
      seen.push(++running)
      await settled()
      running--
      return id
    },
  )
  const elicit = (): Promise<{ action: 'decline' }> => {
    asked.resolve()
    return answer.promise
  }
  await using slow = await testClient(app, { revision: '2025-06-18', answers: { elicit } })
  await using other = await testClient(app, { revision: '2025-06-18' })
  const waits = slow.call('book', { id: 'slow' })
  await asked.promise
  expect(await other.call('book', { id: 'quick' })).toBe('quick')
  const third = other.call('book', { id: 'third' })
  answer.resolve({ action: 'decline' })
  expect(await Promise.all([waits, third])).toEqual(['slow', 'third'])
  expect(Math.max(...seen)).toBe(1)
  await app.close()
})

test('a call that is cancelled while it waits for an answer leaves its place to others', async () => {
  const asked = new Deferred<void>()
  const app = createServer(quiet).tool(
    'book',
    { input: named, task: { concurrency: 1 } },
    async ({ id }, ctx) => {
      if (id === 'slow') await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
      return id
    },
  )
  const elicit = (): Promise<{ action: 'decline' }> => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  await using slow = await testClient(app, { revision: '2025-06-18', answers: { elicit } })
  const stop = new AbortController()
  const waits = slow.call('book', { id: 'slow' }, { signal: stop.signal })
  await asked.promise
  stop.abort()
  await expect(waits).rejects.toThrow('cancelled')
  for (const id of ['a', 'b']) expect(await slow.call('book', { id })).toBe(id)
  await app.close()
})
