import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { Forwarded } from '../../src/nodes/forwarded.ts'
import { sqlite } from '../../src/stores.ts'
import { message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
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
  expect(await subscribe()).toBe(200)
  expect(take).toHaveBeenLastCalledWith(expect.any(String), 1)
  expect((await at(two, session).post(message('ping', {}, 8))).status).toBe(200)
})
