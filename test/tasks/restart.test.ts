import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { memory } from '../../src/stores.ts'
import { Door } from '../harness/door.ts'

test.each(['2025-11-25', '2026-07-28'] as const)(
  'a call of a tool that is always a task goes on after a restart of the server, at %s',
  async (revision) => {
    const store = memory()
    const door = new Door()
    const create = (): App =>
      createServer({ name: 'x', version: '1', store, log: () => undefined, limits: { drainMs: 1 } }).tool(
        'work',
        { hints: { idempotent: true }, task: { mode: 'required', poll: '100ms' } },
        async (_, { attempt }) => {
          door.open('begun')
          if (attempt === 1) await new Promise(() => undefined)
          return `attempt ${attempt}`
        },
      )
    const first = create()
    const { url } = await first.listen({ http: { port: 0 } })
    await using client = await connect(url as string, { revision })
    const result = client.call('work')
    await door.pass('begun')
    await first.close()
    const second = create()
    onTestFinished(() => second.close())
    await second.listen({ http: { port: Number(new URL(url as string).port) } })
    expect(await result).toBe('attempt 2')
  },
)

test('a server that listens again before it has closed takes up the tasks that the close gave up', async () => {
  const door = new Door()
  const app = createServer({ name: 'x', version: '1', log: () => undefined, limits: { drainMs: 200 } }).tool(
    'work',
    { hints: { idempotent: true }, task: { mode: 'required' } },
    async (_, { attempt }) => {
      door.open('begun')
      if (attempt === 1) await new Promise(() => undefined)
      door.open('again')
      return `attempt ${attempt}`
    },
  )
  onTestFinished(() => app.close())
  const { url } = await app.listen({ http: { port: 0 } })
  const client = await connect(url as string)
  const { id } = await client.start('work')
  await door.pass('begun')
  await client.close()
  const closed = app.close()
  const again = await app.listen({ http: { port: 0 } })
  await closed
  await door.pass('again')
  await (await connect(again.url as string)).close()
  await expect.poll(async () => (await app.tasks.show(id as string))?.status).toBe('completed')
})
