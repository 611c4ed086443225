import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import { startNodes } from './nodes.ts'

/** How many events are read at once. */
const PAGE = 100

test('a node whose answer was lost looks for its message only among those that it does not know', async () => {
  const define = (app: App): void => void app.tool('quick', {}, () => 'quick')
  const cluster = await startNodes({ count: 1, define, listen: { http: { port: 0 }, ws: true } })
  const [{ view, port }] = cluster.nodes as [(typeof cluster.nodes)[0]]
  const client = await connect(`ws://127.0.0.1:${port}/mcp`, { revision: '2025-11-25' })
  onTestFinished(() => client.close())
  for (let n = 0; n < 3 * PAGE; n++) await client.call('quick')
  // The first of two is the note that the request arrived.
  let appended = 0
  view.losesAnswer = (step) => step === 'events.append' && ++appended === 2
  const steps = await cluster.stores.during(() => client.call('quick'))
  expect(appended).toBe(2)
  // One look finds it; others may look for news.
  expect(steps.filter((step) => step === 'events.read').length).toBeLessThanOrEqual(3)
})
