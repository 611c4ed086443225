import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import type { Node } from '../../src/nodes/node.ts'
import type { EventStore } from '../../src/rpc/event-store.ts'
import type { Session } from '../../src/rpc/session.ts'
import type { SessionContents } from '../../src/rpc/session-fields.ts'
import { NoticeBudget } from '../../src/transport/io/notice-budget.ts'
import { NoticeWriter } from '../../src/transport/http/server/notice-writer.ts'
import { startNodes } from './nodes.ts'
import { Stores } from './store.ts'

/** How many events are read at once. */
const PAGE = 100

test('a node whose answer was lost looks for its message only among those that it does not know', async () => {
  const define = (app: App): void => void app.tool('quick', {}, () => 'quick')
  const cluster = await startNodes({ count: 1, define, listen: { http: { port: 0 }, ws: true } })
  const [{ view, port }] = cluster.nodes as [(typeof cluster.nodes)[0]]
  const client = await connect(`ws://127.0.0.1:${port}/mcp`, { revision: '2025-11-25' })
  onTestFinished(() => client.close())
  await Promise.all(Array.from({ length: 3 * PAGE }, () => client.call('quick')))
  // The first of two is the note that the request arrived.
  let appended = 0
  view.losesAnswer = (step) => step === 'events.append' && ++appended === 2
  const steps = await cluster.stores.during(() => client.call('quick'))
  expect(appended).toBe(2)
  // One look finds it; others may look for news.
  expect(steps.filter((step) => step === 'events.read').length).toBeLessThanOrEqual(3)
})

test('notifications without a position are added once each, and in order, although answers are lost', async () => {
  const view = new Stores().view('a')
  const events = view.driver.events as EventStore
  const room = { events: 1000, bytes: 1 << 20, idleMs: 60_000 }
  const writer = new NoticeWriter({
    node: { number: 1, stores: { events } } as unknown as Node,
    contents: {} as SessionContents,
    session: { id: 'a' } as Session,
    countedFor: '',
    isCounted: () => true,
    budget: new NoticeBudget({ unsentBytes: 1e9 }),
    room,
    after: 0,
    onMoved: () => undefined,
    onError: (error) => expect.fail(String(error)),
  })
  let steps = 0
  view.losesAnswer = () => ++steps % 3 === 0
  const texts = Array.from({ length: 10 }, (_, n) => JSON.stringify({ n: Math.floor(n / 2) }))
  for (const text of texts) writer.add(text, undefined)
  await writer.done()
  view.losesAnswer = () => false
  const page = await events.read('a', 's', -1, 100)
  // A mark may come before each.
  expect(page?.events.map(({ text }) => text.split(' ').at(-1))).toEqual(texts)
})
