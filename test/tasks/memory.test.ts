import { expect, test } from 'vitest'
import { z } from 'zod'
import { Deferred } from '../../src/base/deferred.ts'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { TaskBytes } from '../../src/tasks/bytes.ts'
import { heldHeap } from '../harness/memory.ts'
import { settled } from '../harness/task-clock.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined, limits: { drainMs: 1 } } as const
const hang = (): Promise<never> => new Promise(() => undefined)
const rows = `[${'[],'.repeat(50_000)}[]]`

/** Calls a tool until the call is a task. */
async function start(
  app: App,
  tool: string,
  { id = '1', args = '{}', token = '' }: { id?: string; args?: string; token?: string } = {},
): Promise<void> {
  const answered = new Deferred<JsonObject>()
  const end = app.connect({
    receive: (text) => answered.resolve(JSON.parse(text) as JsonObject),
    auth: { sub: id.slice(0, 8) },
  })
  const meta = {
    [META.protocolVersion]: '2026-07-28',
    [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } },
    ...(token !== '' && { [META.progressToken]: token }),
  }
  const params = `{"name":"${tool}","arguments":${args},"_meta":${JSON.stringify(meta)}}`
  end.send(`{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":${params}}`)
  expect(await answered.promise).toMatchObject({ result: { resultType: 'task' } })
  await settled()
  end.close()
}

async function bytesOf(app: App): Promise<TaskBytes> {
  return (await serviceOf(app).tasks.load()).tasks.bytes
}

const PLAIN = { type: 'object', properties: { rows: { type: 'array' } } } as const
const CHECKED = z.object({ rows: z.array(z.array(z.number())) })

test.each([
  ['a JSON Schema', { input: PLAIN, task: 'required' }],
  ['zod, which copies them', { input: CHECKED, task: 'required' }],
  ['zod, if the call becomes a task later', { input: CHECKED, task: { after: 1 } }],
] as const)('running tasks count the memory of their arguments: with %s', async (_, options) => {
  const app = createServer(quiet)
  app.tool('rows', options as { input: typeof PLAIN }, hang)
  app.tool('warm', { task: 'required' }, hang)
  await start(app, 'warm')
  const bytes = await bytesOf(app)
  const before = { counted: bytes.total, heap: heldHeap() }
  const count = 5
  for (let at = 0; at < count; at++)
    await start(app, 'rows', { id: `caller ${at}`, args: `{"rows":${rows}}` })
  const counted = bytes.total - before.counted
  // The text is in the store, and each of its lists in memory.
  expect(counted).toBeGreaterThan(count * (rows.length + 50_000 * 16))
  expect(counted).toBeGreaterThan((heldHeap() - before.heap) * 0.9)
  await app.close()
})

test('the id of the request and the progress token of a running task count', async () => {
  const app = createServer(quiet).tool('hang', { task: 'required' }, hang)
  await start(app, 'hang')
  const bytes = await bytesOf(app)
  const before = bytes.total
  await start(app, 'hang', { id: 'i'.repeat(65_000), token: 't'.repeat(65_000) })
  expect(bytes.total - before).toBeGreaterThan(130_000)
  await app.close()
})
