import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { apiKeys, createApiKey, digestApiKey } from '../../src/auth.ts'
import { connect } from '../../src/client.ts'
import { mcpError } from '../../src/errors/error.ts'
import { STORE_UNREACHABLE } from '../../src/errors/store.ts'
import { createServer } from '../../src/index.ts'
import { memory } from '../../src/stores.ts'
import { Gate } from '../http/server.ts'

test.each([
  ['', 0],
  [', even if the store is away then', 2],
])(
  'a client that leaves while its task is stored leaves no failed task behind, and its key is free%s',
  async (_, failures) => {
    const key = createApiKey()
    const headers = { authorization: `Bearer ${key}` }
    const gate = new Gate()
    const { tasks, ...rest } = memory()
    const create = tasks.create.bind(tasks)
    let creations = 0
    tasks.create = async (...args) => {
      if (creations++ === 0) {
        gate.enter()
        await gate.opened
      }
      return create(...args)
    }
    const change = tasks.change.bind(tasks)
    let changes = 0
    tasks.change = (...args) => {
      if (changes++ < failures) throw mcpError(STORE_UNREACHABLE, {})
      return change(...args)
    }
    let runs = 0
    const log: string[] = []
    const app = createServer({
      name: 'x',
      version: '1',
      store: { ...rest, tasks },
      log: (_, message) => log.push(message),
      auth: apiKeys({ digests: { [await digestApiKey(key)]: { sub: 'ann' } } }),
    }).tool(
      'work',
      { input: z.object({ id: z.string() }), task: { mode: 'required', key: ({ id }) => id } },
      () => `run ${++runs}`,
    )
    const noticed = new Gate()
    app.use('tools/call', (ctx, next) => {
      ctx.signal.addEventListener('abort', () => noticed.open())
      return next()
    })
    onTestFinished(() => app.close())
    const { url } = await app.listen({ http: { port: 0 } })
    const first = await connect(url as string, { headers })
    const leaving = new AbortController()
    const left = first.call('work', { id: 'a' }, { signal: leaving.signal }).catch(() => 'left')
    await gate.entered
    leaving.abort()
    expect(await left).toBe('left')
    await first.close()
    await noticed.opened
    gate.open()
    await expect
      .poll(async () => (await app.tasks.list({ status: 'cancelled' })).length, { timeout: 30_000 })
      .toBe(1)
    const second = await connect(url as string, { headers })
    onTestFinished(() => second.close())
    expect(await second.call('work', { id: 'a' })).toBe('run 1')
    expect(log).toEqual(
      Array.from({ length: failures }, () => 'a task could not be stored; it is tried again'),
    )
  },
)
