import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined, limits: { drainMs: 1 } } as const
const input = z.object({ id: z.string(), rest: z.unknown() })
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

test('a call with the key of a task never parses the request of that task', async () => {
  const call = callerOf(keyedApp())
  const first = await call({ id: 'a', rest: [{ b: 1, a: [-0, 'é'] }] })
  const parsed = parsedRequests()
  const { taskId } = first['result'] as JsonObject
  for (let times = 0; times < 3; times++)
    expect(await call({ rest: [{ a: [0, 'é'], b: 1 }], id: 'a' })).toMatchObject({ result: { taskId } })
  // Other arguments of the same length, and of the same texts in another place.
  for (const rest of [[{ b: 2, a: [0, 'é'] }], [{ a: 1, b: [0, 'é'] }], { 0: { b: 1, a: [0, 'é'] } }])
    expect(await call({ id: 'a', rest })).toMatchObject({ error: { code: -32602 } })
  expect(parsed()).toEqual([])
})
