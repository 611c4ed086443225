import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { TaskRequest } from '../../src/tasks/record.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined, limits: { drainMs: 1 } } as const
const input = z.object({ id: z.string(), rest: z.unknown().optional() })
const CAPABILITIES = { extensions: { [TASKS_EXTENSION]: {} } }

/** Calls of the tool `work` at 2026-07-28, in the same process. */
function callerOf(app: App): (args: JsonObject, meta?: JsonObject) => Promise<JsonObject> {
  let receive: (message: JsonObject) => void = () => undefined
  const end = app.connect({
    receive: (text) => receive(JSON.parse(text) as JsonObject),
    auth: { sub: 'ann' },
  })
  return (args, meta = {}) =>
    new Promise((resolve) => {
      receive = resolve
      const envelope = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: CAPABILITIES }
      const params = { name: 'work', arguments: args, _meta: { ...envelope, ...meta } }
      end.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    })
}

/** The stored requests that are parsed from now on. */
function parsedRequests(): () => readonly string[] {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  return () => parse.mock.calls.map(([text]) => text).filter((text) => text.includes('"revision":'))
}

function keyedApp(): App {
  const app = createServer(quiet).tool(
    'work',
    { input, task: { mode: 'required', key: ({ id }) => id } },
    () => new Promise<string>(() => undefined),
  )
  onTestFinished(() => app.close())
  return app
}

test.each([1, 10_000])('a call with a key never parses the request of its task: %d é', async (count) => {
  const e = 'é'.repeat(count)
  const call = callerOf(keyedApp())
  const first = await call({ id: 'a', rest: [{ b: 1, a: [-0, e] }] })
  const parsed = parsedRequests()
  const { taskId } = first['result'] as JsonObject
  for (let times = 0; times < 3; times++)
    expect(await call({ rest: [{ a: [0, e], b: 1 }], id: 'a' })).toMatchObject({ result: { taskId } })
  // Other arguments of the same length, and of the same texts in another place.
  for (const rest of [[{ b: 2, a: [0, e] }], [{ a: 1, b: [0, e] }], { 0: { b: 1, a: [0, e] } }])
    expect(await call({ id: 'a', rest })).toMatchObject({ error: { code: -32602 } })
  expect(parsed()).toEqual([])
})

/** The text that the task of a call keeps of its request. */
async function storedRequest(app: App, meta: JsonObject): Promise<string> {
  const reply = await callerOf(app)({ id: 'a' }, meta)
  expect(reply).toMatchObject({ result: { resultType: 'task' } })
  const { tasks } = await serviceOf(app).tasks.load()
  const record = await tasks.store.get((reply['result'] as { taskId: string }).taskId)
  return record!.request
}

/** Many members, as a hostile message may have. */
const MANY = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at.toString(36)}`, 0]))

test('a task keeps little of what surrounds its arguments', async () => {
  const seen: unknown[] = []
  const app = createServer(quiet).tool('work', { input, task: 'required' }, (_, { params }) => {
    seen.push(params['_meta'])
    return new Promise<string>(() => undefined)
  })
  onTestFinished(() => app.close())
  const meta = {
    'x/many': MANY,
    ...MANY,
    'x/small': 1,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    [META.clientInfo]: { junk: MANY, name: 'films', version: '1', title: 'Films' },
    [META.clientCapabilities]: { experimental: MANY, ...CAPABILITIES, elicitation: { form: {} } },
  }
  const text = await storedRequest(app, meta)
  expect(text.length).toBeLessThan(8192)
  const { params, client, capabilities } = JSON.parse(text) as TaskRequest
  expect(client).toEqual({ name: 'films', version: '1', title: 'Films' })
  expect(capabilities).toEqual({ ...CAPABILITIES, elicitation: { form: {} } })
  expect(params['_meta']).toMatchObject({ traceparent: meta.traceparent, k0: 0, k1: 0 })
  await expect.poll(() => seen).toEqual([params['_meta']])
})

test('a task keeps all of what usual clients send', async () => {
  const app = createServer(quiet).tool('work', { input, task: 'required' }, () => 'done')
  onTestFinished(() => app.close())
  const info = { name: 'films', version: '1', websiteUrl: 'https://films.example' }
  const text = await storedRequest(app, {
    'x/tenant': { id: 7, tags: ['a'] },
    [META.clientInfo]: info,
  })
  expect(JSON.parse(text)).toMatchObject({
    params: { _meta: { 'x/tenant': { id: 7, tags: ['a'] } } },
    client: info,
    capabilities: CAPABILITIES,
  })
})
