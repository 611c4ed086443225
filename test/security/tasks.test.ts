import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META, TASKS_EXTENSION } from '../../src/protocol/meta.ts'
import { MemoryTaskStore } from '../../src/store/tasks-memory.ts'
import { TaskIds } from '../../src/store/tasks-sqlite-ids.ts'
import { testClient } from '../../src/testing.ts'
import { newTaskId } from '../../src/tasks/id.ts'
import { as, listen, people, server } from '../auth/server.ts'
import { envelope } from '../gist/server.ts'
import { failureOf } from '../harness/failure.ts'
import { BOTH, ENVELOPE, initialize, message } from '../http/messages.ts'
import { send } from '../http/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openSocket } from '../ws/server.ts'

const RANDOM = 'A'.repeat(24)
const DECLARED = { ...ENVELOPE, [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } }

/** Sends a request as some caller, and gives back what the server answers. */
type Ask = (method: string, params: JsonObject) => Promise<JsonObject>

/** Each way on which a caller with a token reaches tasks. */
const WAYS: Readonly<Record<string, (port: number, token: string) => Promise<Ask>>> = {
  'http 2025-11-25': async (port, token) => {
    const { headers } = await send(port, { body: initialize(), headers: { ...BOTH, ...as(token) } })
    const session = { 'mcp-session-id': headers['mcp-session-id'] as string }
    const all = { ...BOTH, ...as(token), ...session, 'mcp-protocol-version': '2025-11-25' }
    return async (method, params) =>
      (await send(port, { body: message(method, params, 2), headers: all })).json
  },
  'http 2026-07-28': async (port, token) => async (method, params) => {
    const named = params['taskId'] ?? params['name']
    const headers = {
      ...BOTH,
      ...as(token),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(named === undefined ? {} : { 'mcp-name': named as string }),
    }
    const reply = await send(port, { body: message(method, { ...params, _meta: DECLARED }, 2), headers })
    return reply.headers['content-type'] === 'text/event-stream'
      ? (JSON.parse(reply.events.at(-1)?.data ?? '') as JsonObject)
      : reply.json
  },
  'ws 2025-11-25': async (port, token) => {
    const ask = await overSocket(port, token)
    await ask('initialize', (JSON.parse(initialize()) as { params: JsonObject }).params)
    return ask
  },
  'ws 2026-07-28': async (port, token) => {
    const ask = await overSocket(port, token)
    return (method, params) => ask(method, { ...params, _meta: DECLARED })
  },
}

async function overSocket(port: number, token: string): Promise<Ask> {
  const raw = await openSocket(port, as(token))
  let id = 10
  return async (method, params) => {
    const own = ++id
    raw.write(frame(message(method, params, own)))
    const found = (): JsonObject | undefined =>
      raw.texts.map((text) => JSON.parse(text) as JsonObject).find((reply) => reply['id'] === own)
    await raw.until(() => found() !== undefined)
    return found() as JsonObject
  }
}

/** A server with a tool that runs until its task is cancelled, and asks a question before. */
function guarded() {
  return server(people()).tool('hang', { task: 'required' }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
}

function startedBy(result: unknown): string {
  const { task, taskId = (task as JsonObject)['taskId'] } = result as { task?: unknown; taskId?: string }
  return taskId as string
}

const said = (reply: unknown): string =>
  JSON.stringify(reply)
    .replaceAll(/[\w-]{24,}/g, 'ID')
    .replaceAll(/"(?:id|duration_ms|"[^"]*subscriptionId)":[\d.]+/g, '')

test.each(Object.entries(WAYS))(
  'M.task-foreign M.task-unknown · %s: to others, a task is one that never was [R245]',
  async (way, open) => {
    const { port, app } = await listen(undefined, {}, guarded())
    const ann = await open(port, 'ann')
    const bob = await open(port, 'bob')
    const { result } = await ann('tools/call', { name: 'hang', arguments: {}, task: {} })
    const id = startedBy(result)
    const isNew = way.endsWith('2026-07-28')
    const asked: readonly (readonly [string, (taskId: string) => JsonObject])[] = [
      ['tasks/get', (taskId) => ({ taskId })],
      ['tasks/cancel', (taskId) => ({ taskId })],
      isNew
        ? ['tasks/update', (taskId) => ({ taskId, inputResponses: {} })]
        : ['tasks/result', (taskId) => ({ taskId })],
    ]
    for (const [method, params] of asked) {
      const foreign = await bob(method, params(id))
      expect(foreign).toMatchObject({ error: { code: -32602 } })
      expect(said(foreign)).toBe(said(await bob(method, params(RANDOM))))
    }
    expect((await app.tasks.show(id))?.status).toBe('working')
    expect(await ann('tasks/get', { taskId: id })).toMatchObject({ result: { status: 'working' } })
  },
)

test.each(['http', 'ws'])(
  'M.task-foreign · %s: listening for the task of another caller is like listening for none',
  async (way) => {
    const { port } = await listen(undefined, {}, guarded())
    const ann = await WAYS['http 2026-07-28']!(port, 'ann')
    const id = startedBy((await ann('tools/call', { name: 'hang', arguments: {} }))['result'])
    const acknowledged = async (taskId: string): Promise<string> => {
      const raw = await openSocket(port, as('bob'))
      const body = message(
        'subscriptions/listen',
        { notifications: { taskIds: [taskId] }, _meta: DECLARED },
        1,
      )
      if (way === 'ws') {
        raw.write(frame(body))
        await raw.until(() => raw.texts.length > 0)
        return said(raw.texts[0])
      }
      const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        body,
        headers: {
          ...BOTH,
          ...as('bob'),
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
      })
      const reader = response.body!.getReader()
      const { value } = await reader.read()
      await reader.cancel()
      return said(new TextDecoder().decode(value))
    }
    expect(await acknowledged(id)).toBe(await acknowledged(RANDOM))
  },
)

test.each(['http 2025-11-25', 'ws 2025-11-25'])(
  'M.task-list-foreign · %s: a list has the tasks of its caller alone, whatever the cursor',
  async (way) => {
    const { port } = await listen(undefined, {}, guarded())
    const ann = await WAYS[way]!(port, 'ann')
    const bob = await WAYS[way]!(port, 'bob')
    const id = startedBy((await ann('tools/call', { name: 'hang', arguments: {}, task: {} }))['result'])
    expect(await ann('tasks/list', {})).toMatchObject({ result: { tasks: [{ taskId: id }] } })
    expect(await bob('tasks/list', {})).toMatchObject({ result: { tasks: [] } })
    expect(said(await bob('tasks/list', { cursor: id }))).toBe(
      said(await bob('tasks/list', { cursor: RANDOM })),
    )
  },
)

test('M.task-foreign · jobs: the job of another caller is one that never was', async () => {
  const { port } = await listen(undefined, {}, guarded())
  const body = JSON.stringify(envelope('hang', {}, { mode: 'async' }))
  const { json } = await send(port, { path: '/gist', body, headers: { ...BOTH, ...as('ann') } })
  const id = json['job_id'] as string
  const get = (path: string, token: string) =>
    send(port, { method: 'GET', path: `/jobs/${path}`, headers: as(token) })
  expect((await get(id, 'ann')).json).toMatchObject({ status: 'in_progress' })
  const [foreign, random] = [await get(id, 'bob'), await get(RANDOM, 'bob')]
  expect(foreign.status).toBe(404)
  expect([foreign.status, said(foreign.json)]).toEqual([random.status, said(random.json)])
})

/** A store that notes what it is asked for. */
class Counting extends MemoryTaskStore {
  readonly steps: string[] = []

  override head(id: string): ReturnType<MemoryTaskStore['head']> {
    this.steps.push('head')
    return super.head(id)
  }

  override get(id: string): ReturnType<MemoryTaskStore['get']> {
    this.steps.push('get')
    return super.get(id)
  }

  override read(...text: Parameters<MemoryTaskStore['read']>): ReturnType<MemoryTaskStore['read']> {
    this.steps.push('read')
    return super.read(...text)
  }

  override list(...query: Parameters<MemoryTaskStore['list']>): ReturnType<MemoryTaskStore['list']> {
    this.steps.push('list')
    return super.list(...query)
  }

  override change(...change: Parameters<MemoryTaskStore['change']>): ReturnType<MemoryTaskStore['change']> {
    this.steps.push('change')
    return super.change(...change)
  }
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'M.task-foreign M.task-unknown · %s: the task of another caller costs as many steps as one that never was',
  async (revision) => {
    const tasks = new Counting()
    const app = createServer({ name: 'tasks', version: '1', log: () => undefined, store: { tasks } })
    // One that runs, and one that has a result.
    app.tool('hang', { task: 'required' }, () => new Promise(() => undefined))
    app.tool('done', { task: 'required' }, () => 'done')
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((sub) => testClient(app, { revision, auth: { sub } })),
    )
    const hangs = (await ann!.start('hang', {})).id as string
    const done = await ann!.start('done', {})
    await done.result()
    const steps = async (method: string, id: string): Promise<readonly string[]> => {
      tasks.steps.length = 0
      const params = method === 'tasks/list' ? { cursor: id } : { taskId: id, inputResponses: {} }
      expect(await failureOf(bob!.request(method, params))).toMatchObject({ code: -32602 })
      return [...tasks.steps]
    }
    const own = revision === '2026-07-28' ? ['tasks/update'] : ['tasks/result', 'tasks/list']
    for (const method of ['tasks/get', 'tasks/cancel', ...own])
      for (const id of [hangs, done.id as string])
        expect([method, await steps(method, id)]).toEqual([method, await steps(method, RANDOM)])
    await app.tasks.cancel(hangs)
    await app.close()
  },
)

const sqliteIds = TaskIds.of('0123456789abcdef'.repeat(2)) as TaskIds
test.each([
  ['144 random bits', newTaskId, 144],
  ['in SQLite 128 bits that nobody can tell from random ones', () => sqliteIds.next(), 128],
] as const)('M.task-entropy ids of tasks have %s, and no order', (_, next, bits) => {
  const ids = Array.from({ length: 10_000 }, next)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id) => /^[\w-]+$/.test(id) && id.length === Math.ceil(bits / 6))).toBe(true)
  const bytes = ids.map((id) => Buffer.from(id, 'base64url'))
  // Every bit is set in about half of them: 6 standard deviations are 300.
  for (let bit = 0; bit < bits; bit++) {
    const set = bytes.filter((one) => ((one[bit >> 3] as number) >> (bit & 7)) & 1).length
    expect(Math.abs(set - 5000)).toBeLessThan(300)
  }
  // Neighbours differ in about half of their bits, and none share so much of their beginning that it could be a time.
  const differences = bytes.slice(1).map((one, at) => differenceOf(one, bytes[at] as Buffer))
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / differences.length
  expect(Math.abs(mean - bits / 2)).toBeLessThan(1)
  expect(Math.min(...differences)).toBeGreaterThan(bits / 5)
  const beginnings = bytes.map((one) => one.readUIntBE(0, 6))
  expect(new Set(beginnings).size).toBe(ids.length)
  // Each is after the one before in about half of the cases.
  const rising = ids.filter((id, at) => at > 0 && id > (ids[at - 1] as string)).length
  expect(Math.abs(rising - 5000)).toBeLessThan(300)
})

/** The number of bits in which two ids differ. */
function differenceOf(one: Buffer, other: Buffer): number {
  return one.reduce((sum, byte, at) => sum + onesIn(byte ^ (other[at] as number)), 0)
}

function onesIn(byte: number): number {
  return byte.toString(2).replaceAll('0', '').length
}
