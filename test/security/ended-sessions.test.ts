import { describe, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer, type App } from '../../src/index.ts'
import type { HttpSession } from '../../src/transport/http/server/sessions.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { collect } from '../harness/memory.ts'
import { call, message } from '../http/messages.ts'
import { Gate, open, start, type Session } from '../http/server.ts'
import type { Received } from '../http/wire.ts'

const EVENTS = { accept: 'text/event-stream' }

/** Sends a request whose reply comes after its session ended. */
interface Late {
  readonly revision: string
  readonly app: App
  /** Sends it, and ends the session before the reply. */
  send(session: Session): Promise<Received>
  /** The data of the events in the reply. */
  readonly data: string
}

const create = (): App => createServer({ name: 'late', version: '1', log: () => undefined })

/** A batch with a request that is answered at once and one that runs when the session ends. */
function batch(): Late {
  const running = new Gate()
  const app = create().tool('wait', {}, async (_, { signal }) => {
    running.enter()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return 'stopped'
  })
  return {
    revision: '2025-03-26',
    app,
    data: '[{"jsonrpc":"2.0","id":1,"result":{}}]',
    send: async (session) => {
      const reply = session.post(`[${message('ping', {}, 1)},${call('wait', {}, 2)}]`, EVENTS)
      await running.entered
      await session.delete()
      return reply
    },
  }
}

/** A request whose observer is still busy when the session ends. */
function observed(): Late {
  const ending = new Gate()
  const app = create()
    .tool('say', {}, () => 'x'.repeat(1000))
    .use({
      observer: {
        end: ({ method }) => {
          if (method !== 'tools/call') return undefined
          ending.enter()
          return ending.opened
        },
      },
    }) as App
  return {
    revision: '2025-11-25',
    app,
    data: 'x'.repeat(1000),
    send: async (session) => {
      const reply = session.post(call('say'), EVENTS)
      await ending.entered
      await session.delete()
      ending.open()
      return reply
    },
  }
}

describe.each([
  ['a batch', batch],
  ['a request with a slow observer', observed],
])('S.ended %s that is answered after its session ended', (_, make) => {
  test('gets its reply, and nothing is kept for the session', async () => {
    const { revision, app, data, send } = make()
    const { port, endpoint } = await start(app)
    const session = await open(port, revision)
    const known = new WeakRef(endpoint.sessions.get(session.id, undefined))
    const reply = await send(session)
    expect(reply.status).toBe(200)
    expect(reply.events).toEqual([expect.objectContaining({ data: expect.stringContaining(data) as string })])
    expect(reply.events[0]?.id).toBeUndefined()
    expect(budgetsOf(serviceOf(app), app.limits).kept.bytes).toBe(0)
    await expectCollected(known)
  })
})

test('S.ended a notification for a session that ended is not kept', async () => {
  const asked = new Gate()
  let complete: () => void = () => undefined
  const app = create().tool('visit', {}, async (_, { elicitUrl }) => {
    const visit = await elicitUrl('open', 'https://visit.example/')
    complete = () => visit.complete()
    asked.enter()
    return 'visited'
  })
  const { port, endpoint } = await start(app)
  const session = await open(port, '2025-11-25', { elicitation: { url: {} } })
  await session.post(message('notifications/initialized'))
  const known = new WeakRef(endpoint.sessions.get(session.id, undefined))
  const stream = await session.stream(call('visit'))
  const [question] = (await stream.until(({ messages }) => messages.length === 1)).messages
  await session.post(JSON.stringify({ jsonrpc: '2.0', id: question?.['id'], result: { action: 'accept' } }))
  await asked.entered
  await stream.end()
  await session.delete()
  complete()
  complete = () => undefined
  expect(budgetsOf(serviceOf(app), app.limits).kept.bytes).toBe(0)
  await expectCollected(known)
})

/** Waits until nothing refers to a session. */
async function expectCollected(session: WeakRef<HttpSession>): Promise<void> {
  await expect
    .poll(() => {
      collect()
      return session.deref() === undefined
    })
    .toBe(true)
}
