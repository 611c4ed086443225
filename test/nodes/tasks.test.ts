import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { bearer } from '../../src/auth.ts'
import { Forwarded } from '../../src/nodes/forwarded.ts'
import { sqlite } from '../../src/stores.ts'
import type { TaskRecord } from '../../src/tasks/record.ts'
import { BOTH, initialize, message } from '../http/messages.ts'
import { open, Session } from '../http/server.ts'
import { send } from '../http/wire.ts'
import { at, startNodes, type TestNode } from './nodes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-node-tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ORDER = { type: 'object', properties: { order: { type: 'string' } } } as const

/** A server that shares a file with others, and its port. */
async function node(path: string, ran: string[]): Promise<{ readonly app: App; readonly port: number }> {
  const store = sqlite(path, { shared: true })
  const app = createServer({ name: 'shop', version: '1', store, log: () => undefined }).tool(
    'pay',
    { input: ORDER, task: { key: ({ order }) => order } },
    ({ order }) => {
      ran.push(String(order))
      return 'paid'
    },
  )
  const { url } = await app.listen({ http: { port: 0 } })
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  return { app, port: Number(new URL(url as string).port) }
}

type Task = { readonly taskId: string }

async function pay(session: Session, order: string): Promise<string | undefined> {
  const { json } = await session.post(
    message('tools/call', { name: 'pay', arguments: { order }, task: {} }, 5),
  )
  return (json as { readonly result?: { readonly task?: Task } }).result?.task?.taskId
}

async function listed(session: Session): Promise<readonly string[]> {
  const { json } = await session.post(message('tasks/list', {}, 6))
  return (json as { readonly result: { readonly tasks: readonly Task[] } }).result.tasks.map(
    ({ taskId }) => taskId,
  )
}

test('an anonymous session has the same keys and the same list of tasks at every node, and no other session has them', async () => {
  const [path, ran] = [join(folder, 'keys.db'), [] as string[]]
  const [one, two] = [await node(path, ran), await node(path, ran)]
  const session = await open(one.port, '2025-11-25')
  const there = at(two, session)
  const id = await pay(session, 'a')
  expect(id).toBeTypeOf('string')
  expect([await pay(there, 'a'), await pay(session, 'a')]).toEqual([id, id])
  await expect.poll(() => ran).toEqual(['a'])
  const own = await pay(there, 'b')
  expect([await listed(session), await listed(there)]).toEqual([
    [id, own],
    [id, own],
  ])
  const other = await open(two.port, '2025-11-25')
  expect(await listed(other)).toEqual([])
  expect(await pay(other, 'a')).not.toBe(id)
  // The id of a session is a secret.
  const scopes = (await one.app.tasks.list()).map(({ scope }) => scope)
  expect(scopes.join()).not.toContain(String(session.headers['mcp-session-id']))
})

test('subscriptions that are published to other nodes count like answers: beyond the limit, they wait', async () => {
  const { nodes } = await startNodes({ define: (app) => void app.resource('note://a', {}, () => 'a') })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await open(one.port, '2025-11-25')
  const take = vi.spyOn(Forwarded.prototype, 'take').mockReturnValue(false)
  onTestFinished(() => take.mockRestore())
  const subscribe = async (): Promise<number> =>
    (await session.post(message('resources/subscribe', { uri: 'note://a' }, 7))).status
  expect(await subscribe()).toBe(503)
  take.mockReturnValue(true)
  // After a refusal, the next attempt is made a second later.
  await expect.poll(subscribe, { timeout: 10_000, interval: 200 }).toBe(200)
  expect(take).toHaveBeenLastCalledWith(expect.any(String), 1)
  expect((await at(two, session).post(message('ping', {}, 8))).status).toBe(200)
})

/** A server that shares a file with others, whose callers are the subjects that their tokens name. */
async function guarded(
  path: string,
  begun: unknown[],
): Promise<{ readonly app: App; readonly port: number; readonly lists: () => number }> {
  const store = sqlite(path, { shared: true })
  const list = vi.spyOn(store.tasks, 'list')
  const auth = bearer((token) => ({ sub: token, scopes: [], iat: Math.ceil(Date.now() / 1000) + 1 }))
  const app = createServer({ name: 'guarded', version: '1', store, auth, log: () => undefined }).tool(
    'hang',
    { input: ORDER, task: 'required' },
    async ({ order }, { signal }) => {
      begun.push(order)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  )
  const { url } = await app.listen({ http: { port: 0 } })
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  return { app, port: Number(new URL(url as string).port), lists: () => list.mock.calls.length }
}

async function hang(port: number, order: string): Promise<string> {
  const headers = { ...BOTH, authorization: 'Bearer ann' }
  const reply = await send(port, { body: initialize(), headers })
  const session = new Session(port, {
    ...headers,
    'mcp-session-id': reply.headers['mcp-session-id'] as string,
    'mcp-protocol-version': '2025-11-25',
  })
  await session.post(message('notifications/initialized'))
  const { json } = await session.post(
    message('tools/call', { name: 'hang', arguments: { order }, task: {} }, 5),
  )
  return (json as { readonly result: { readonly task: Task } }).result.task.taskId
}

test('a node that starts cancels nothing for revocations of the past, and begins no task from before them', async () => {
  const [path, begun] = [join(folder, 'revoked.db'), [] as unknown[]]
  const one = await guarded(path, begun)
  for (const sub of ['x', 'y', 'ann']) void one.app.revoke({ sub })
  const at = Date.now()
  await expect.poll(() => one.lists()).toBeGreaterThan(0)
  const later = await hang(one.port, 'later')
  await expect.poll(() => begun).toEqual(['later'])
  // The node that revoked died before it could cancel this one.
  const file = sqlite(path)
  const found = (await file.tasks.get(later)) as TaskRecord
  const room = { tasks: 10, callerTasks: 10, taskBytes: 1e9 }
  const times = { createdAt: at - 1000, updatedAt: at - 1000, dueAt: at }
  await file.tasks.create({ ...found, ...times, id: 'earlier', node: '', version: 1 }, room)
  const two = await guarded(path, begun)
  await expect.poll(async () => (await file.tasks.head('earlier'))?.status).toBe('cancelled')
  expect([(await file.tasks.head(later))?.status, two.lists(), begun]).toEqual(['working', 0, ['later']])
  await one.app.tasks.cancel(later)
  await file.close()
})

test('many revocations at once read the unfinished tasks only a few times, and cancel those of all callers', async () => {
  const [path, begun] = [join(folder, 'many.db'), [] as unknown[]]
  const [one, two] = [await guarded(path, begun), await guarded(path, begun)]
  const ids = [await hang(one.port, 'here'), await hang(two.port, 'there')]
  await expect.poll(() => begun).toHaveLength(2)
  for (let nth = 0; nth < 200; nth++) void one.app.revoke({ sub: `user ${nth}` })
  void one.app.revoke({ sub: 'ann' })
  for (const id of ids)
    await expect.poll(async () => (await one.app.tasks.show(id))?.status).toBe('cancelled')
  // One pass has a list for each of two statuses, and begins again if more callers were revoked meanwhile.
  expect(one.lists()).toBeLessThan(20)
})
