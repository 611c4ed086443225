import { expect, test } from 'vitest'
import { z } from 'zod'
import { Deferred } from '../../src/base/deferred.ts'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App, type Context } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import type { RequestSource } from '../../src/rpc/call.ts'
import { callOf } from '../../src/server/context.ts'
import type { TaskBytes } from '../../src/tasks/bytes.ts'
import { heldHeap } from '../harness/memory.ts'
import { settled } from '../harness/task-clock.ts'
import { Node } from '../harness/task-engine.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined, limits: { drainMs: 1 } } as const
const hang = (): Promise<never> => new Promise(() => undefined)
const rows = `[${'[],'.repeat(50_000)}[]]`

/** Calls a tool until the call is a task. */
async function start(
  app: App,
  tool: string,
  {
    id = '1',
    args = '{}',
    token = '',
    more = '',
  }: { id?: string; args?: string; token?: string; more?: string } = {},
): Promise<void> {
  const answered = new Deferred<JsonObject>()
  const end = app.connect({
    receive: (text) => answered.resolve(JSON.parse(text) as JsonObject),
    auth: { sub: id.slice(0, 16) },
  })
  const meta = {
    [META.protocolVersion]: '2026-07-28',
    [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } },
    ...(token !== '' && { [META.progressToken]: token }),
  }
  const params = `{"name":"${tool}","arguments":${args},"_meta":${JSON.stringify(meta)}${more}}`
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
  const limits = { tokenLength: 65_536 }
  const app = createServer({ ...quiet, limits }).tool('hang', { task: 'required' }, hang)
  await start(app, 'hang')
  const bytes = await bytesOf(app)
  const before = bytes.total
  await start(app, 'hang', { id: 'i'.repeat(65_000), token: 't'.repeat(65_000) })
  expect(bytes.total - before).toBeGreaterThan(130_000)
  await app.close()
})

test('records whose names are numbers count what their copies take', async () => {
  const app = createServer(quiet)
  const held: unknown[] = []
  const input = z.object({ rows: z.array(z.record(z.string(), z.number())) })
  app.tool('rows', { input, task: 'required' }, (given) => {
    held.push(given)
    return hang()
  })
  app.tool('warm', { task: 'required' }, hang)
  await start(app, 'warm')
  const bytes = await bytesOf(app)
  const before = { counted: bytes.total, heap: heldHeap() }
  const args = `{"rows":[${Array.from({ length: 1000 }, () => '{"1023":1,"2500":1}').join()}]}`
  await start(app, 'rows', { args })
  const taken = heldHeap() - before.heap
  expect(taken).toBeGreaterThan(20_000_000)
  expect(held).toHaveLength(1)
  expect(bytes.total - before.counted).toBeGreaterThan(taken * 0.9)
  await app.close()
})

test('answers that come with a first call count as long as its task runs', async () => {
  const app = createServer(quiet).tool('hang', { task: 'required' }, hang)
  await start(app, 'hang')
  const bytes = await bytesOf(app)
  const before = { counted: bytes.total, heap: heldHeap() }
  for (let at = 0; at < 5; at++)
    await start(app, 'hang', { id: `caller ${at}`, more: `,"inputResponses":{"q":{"rows":${rows}}}` })
  const counted = bytes.total - before.counted
  expect(counted).toBeGreaterThan(5 * 50_000 * 16)
  expect(counted).toBeGreaterThan((heldHeap() - before.heap) * 0.9)
  await app.close()
})

test('a running task counts what it takes besides its texts, also if that is little', async () => {
  const app = createServer(quiet)
  const wait = (_: unknown, { signal }: Context): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
  app.tool('wait', { task: 'required' }, wait)
  for (let at = 0; at < 100; at++) await start(app, 'wait', { id: `warm ${at}` })
  const bytes = await bytesOf(app)
  const before = { counted: bytes.total, heap: heldHeap() }
  for (let at = 0; at < 1000; at++) await start(app, 'wait', { id: `caller ${at}` })
  expect(bytes.total - before.counted).toBeGreaterThan((heldHeap() - before.heap) * 0.75)
  await app.close()
})

test('answers and values that a running task keeps count as objects, too', async () => {
  const node = new Node({ isInMemory: false }).tool('keep', async (run) => {
    await run.once('rows', () => JSON.parse(rows) as unknown)
    await run.question('rows', { method: 'sampling/createMessage', params: {} })
    return hang()
  })
  const { id } = await node.start('keep')
  await settled()
  const kept = node.tasks.bytes.total
  expect(kept).toBeGreaterThan(50_000 * 16)
  await node.tasks.answer(id, 'ann', [['rows.1', { content: JSON.parse(rows) as unknown }]])
  expect(node.tasks.bytes.total - kept).toBeGreaterThan(50_000 * 16)
  await node.tasks.cancel(id, 'ann')
})

test('a task keeps a copy of the headers of its first request, which counts, and not its connection', async () => {
  const sources: RequestSource[] = []
  const app = createServer(quiet).tool('hang', { task: 'required' }, (_, context) => {
    sources.push(callOf(context).source)
    expect(context.header('X-Large')).toHaveLength(12_000)
    expect(context.header('host')).toContain('127.0.0.1')
    return hang()
  })
  const { url } = await app.listen({ http: { port: 0 } })
  const call = async (): Promise<void> => {
    const meta = {
      [META.protocolVersion]: '2026-07-28',
      [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } },
    }
    const params = { name: 'hang', arguments: {}, _meta: meta }
    const answer = await fetch(String(url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'hang',
        'x-large': 'x'.repeat(12_000),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    expect(await answer.text()).toContain('"resultType":"task"')
    await settled()
  }
  await call()
  const bytes = await bytesOf(app)
  const before = bytes.total
  await call()
  expect(bytes.total - before).toBeGreaterThan(12_000)
  expect(sources).toHaveLength(2)
  for (const source of sources) expect(source).not.toHaveProperty('request')
  await app.close()
})
