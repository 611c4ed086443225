import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { connect, connectAll } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'

const app = createServer({ name: 'shared', version: '1', log: () => undefined })
  .tool('wait', {}, async () => new Promise<string>((done) => setImmediate(done, 'done')))
  .resource('note://one', {}, () => 'one') as AnyApp

/** The warnings of the runtime. */
function warnings(): string[] {
  const all: string[] = []
  const note = ({ message }: Error): void => void all.push(message)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  return all
}

test.each(['memory', 'http', 'ws', 'tcp'] as const)(
  'many calls share one signal without a warning, over %s',
  async (way) => {
    const noted = warnings()
    const { addresses, close } = await app.listen({ http: { port: 0 }, ws: { port: 0 }, tcp: { port: 0 } })
    onTestFinished(close)
    const client = await connect(way === 'memory' ? app : (addresses[way] as string))
    const controller = new AbortController()
    const { signal } = controller
    const calls = Array.from({ length: 50 }, () => client.call('wait', {}, { signal }))
    await Promise.all(calls)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const more = Array.from({ length: 50 }, () => client.call('wait', {}, { signal }))
    controller.abort()
    for (const { status } of await Promise.allSettled(more)) expect(status).toBe('rejected')
    await client.close()
    expect(noted).toEqual([])
  },
)

test('a group of many servers lists and watches with one signal without a warning', async () => {
  const noted = warnings()
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`)
  const group = await connectAll(Object.fromEntries(names.map((name) => [name, app])))
  const controller = new AbortController()
  const { signal } = controller
  const listed: unknown[] = []
  for await (const tool of group.tools({ signal })) listed.push(tool)
  expect(listed).toHaveLength(names.length)
  // The signal aborts when every server is being watched.
  const onReady = (): void => controller.abort()
  for await (const _ of group.watch({ tools: true, signal, onReady })) continue
  await group.close()
  expect(noted).toEqual([])
})
