import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { META } from '../../src/protocol/meta.ts'
import { testClient } from '../../src/testing.ts'
import { open } from '../harness/client.ts'
import { Door } from '../harness/door.ts'

const quiet = { name: 'tasks', version: '1', log: () => undefined } as const
const named = z.object({ id: z.string() })

test('at 2025-11-25 a further attempt sends progress, which increases, and its status', async () => {
  const app = createServer(quiet).tool(
    'flaky',
    { task: { mode: 'required', retries: 1 } },
    (_, { progress, attempt }) => {
      for (let step = 1; step <= 1 + attempt; step++) progress(step, 3, `attempt ${attempt}`)
      if (attempt === 1) throw new Error('again')
      return 'done'
    },
  )
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const meta = { [META.progressToken]: 'token' }
  await client.request('tools/call', { name: 'flaky', task: {} }, { meta })
  const [status] = await client.hear('notifications/tasks/status')
  expect(status).toMatchObject({ status: 'completed' })
  expect(client.heard('notifications/progress')).toMatchObject([
    { progressToken: 'token', progress: 1, message: 'attempt 1' },
    { progressToken: 'token', progress: 2, message: 'attempt 1' },
    { progressToken: 'token', progress: 3, message: 'attempt 2' },
  ])
  await client.close()
  await app.close()
})

test('at 2025-11-25 a task that is cancelled between two attempts sends its status', async () => {
  const failed = new Door()
  const app = createServer(quiet).tool('flaky', { task: { mode: 'required', retries: 1 } }, () => {
    failed.open('failed')
    throw new Error('again')
  })
  const client = await open(app, { transport: 'memory', revision: '2025-11-25' })
  const { task } = (await client.request('tools/call', { name: 'flaky', task: {} })) as { task: JsonObject }
  await failed.pass('failed')
  await expect.poll(async () => (await app.tasks.show(task['taskId'] as string))?.attempt).toBe(2)
  await app.tasks.cancel(task['taskId'] as string)
  const [status] = await client.hear('notifications/tasks/status')
  expect(status).toMatchObject({ taskId: task['taskId'], status: 'cancelled' })
  await client.close()
  await app.close()
})

test('at 2025-11-25 progress takes the way that is left when requests for the result are cancelled', async () => {
  const door = new Door()
  const app = createServer(quiet).tool('steps', { task: 'required' }, async (_, { progress }) => {
    for (let step = 1; ; step++) {
      await door.pass('step')
      progress(step)
    }
  })
  const client = await open(app, { transport: 'http', revision: '2025-11-25' })
  await client.follow({})
  const meta = { [META.progressToken]: 'token' }
  const params = { name: 'steps', task: {} }
  const { task } = (await client.request('tools/call', params, { meta })) as { task: JsonObject }
  const carriers: (string | undefined)[] = []
  const step = async (): Promise<void> => {
    door.open('step')
    await client.hear('notifications/progress', carriers.length + 1)
    carriers.push(client.notices.findLast(({ method }) => method === 'notifications/progress')?.carrier)
  }
  await step()
  const { taskId } = task
  for (const id of ['one', 'two']) {
    client.request('tasks/result', { taskId }, { id }).catch(() => undefined)
    await client.settle()
    await step()
  }
  for (const requestId of ['one', 'two']) {
    await client.notify('notifications/cancelled', { requestId })
    await client.settle()
    await step()
  }
  const [first, one, two, ...rest] = carriers
  expect([one, two]).toEqual(['"one"', '"two"'])
  expect(rest).toEqual(['"two"', first])
  await client.close()
  await app.close()
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'all progress reaches the client, from the first on, also of a tool with a key, at %s',
  async (revision) => {
    const door = new Door()
    const app = createServer(quiet).tool(
      'steps',
      {
        input: named,
        task: { mode: revision === '2025-11-25' ? 'required' : 'optional', after: '1h', key: ({ id }) => id },
      },
      async (_, { progress }) => {
        for (let step = 1; step <= 3; step++) {
          progress(step, 3, `step ${step}`)
          await door.pass('step')
        }
        return 'done'
      },
    )
    const client = await testClient(app, { revision, auth: { sub: 'ann' } })
    const seen: unknown[] = []
    const onProgress = ({ progress }: { progress?: number | undefined }): void => {
      seen.push(progress)
      door.open('step')
    }
    expect(await client.call('steps', { id: 'a' }, { onProgress })).toBe('done')
    expect(seen).toEqual([1, 2, 3])
    await client.close()
    await app.close()
  },
)

const waits = { input: named, task: { after: '1h' as const, key: ({ id }: { id: string }) => id } }

test('a call with a key that is given up stops its work, unless another call joined it', async () => {
  const door = new Door()
  const aborted: string[] = []
  const app = createServer(quiet).tool('waits', waits, async ({ id }, { signal }) => {
    signal.addEventListener('abort', () => void aborted.push(id))
    door.open(`${id} begun`)
    await door.pass(id)
    return id
  })
  const client = await testClient(app, { auth: { sub: 'ann' } })
  const call = (id: string): { stop(): void; readonly result: Promise<unknown> } => {
    const { signal, abort } = stopper()
    return { stop: abort, result: client.call('waits', { id }, { signal }).catch((error: unknown) => error) }
  }
  const alone = call('alone')
  await door.pass('alone begun')
  alone.stop()
  expect(await alone.result).toMatchObject({ kind: 'cancelled' })
  await expect.poll(() => aborted).toEqual(['alone'])
  expect(await app.tasks.list()).toMatchObject([{ status: 'cancelled', key: 'alone' }])
  const first = call('joined')
  await door.pass('joined begun')
  const second = call('joined')
  const third = call('joined')
  await client.ping()
  first.stop()
  third.stop()
  await Promise.all([first.result, third.result])
  await client.ping()
  door.open('joined')
  expect(await second.result).toBe('joined')
  expect(aborted).toEqual(['alone'])
  await client.close()
  await app.close()
})

function stopper(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
