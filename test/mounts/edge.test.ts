import { connect } from 'pierhead/client'
import { expect, onTestFinished, test } from 'vitest'
import { serveUnder, type Started } from './runtimes.ts'
import { startWorker } from './worker.ts'

const SERVER = '../../examples/edge/server.ts'
const OBJECT = '../../examples/edge/object.ts'

const RUNTIMES: Readonly<Record<string, () => Promise<Started>>> = {
  workerd: () => startWorker(SERVER),
  'workerd with a Durable Object': () => startWorker(OBJECT, { durableObjects: { TIDES: 'Tides' } }),
  'deno serve': () => serveUnder('deno', SERVER),
  bun: () => serveUnder('bun', SERVER),
}

test.each(Object.entries(RUNTIMES))('the example runs under %s', async (_, start) => {
  const { url, stop } = await start()
  onTestFinished(stop)
  const client = await connect(url)
  onTestFinished(() => client.close())
  expect(await client.call('tide', { hour: 0 })).toBe('3 m')
  await expect(client.call('tide', { hour: 25 })).rejects.toThrow(/hour/)
})
