import { describe, expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { call, message } from './messages.ts'
import { Gate, open, start, tools, type Session } from './server.ts'
import { send, type Stream } from './wire.ts'

const HANDSHAKES = REVISIONS.filter((revision) => revision !== '2026-07-28')
const PRIMED = ['2025-11-25']
const TOKEN = { progressToken: 't' }

/** A tool that reports progress when the test says so. */
function stepping(): { readonly app: App; step(): void; finish(): void; readonly entered: Promise<void> } {
  const gate = new Gate()
  let report: () => void = () => undefined
  let value = 0
  const app = tools().tool('stepping', {}, async (_, { progress }) => {
    report = () => progress(++value)
    gate.enter()
    await gate.opened
    return 'done'
  })
  return { app, step: () => report(), finish: gate.open, entered: gate.entered }
}

const idsOf = ({ events }: Stream): readonly (string | undefined)[] => events.map(({ id }) => id)

describe('the stream of a session', () => {
  test('GET opens it, and what belongs to no request comes there [R072] [R080] [R081] [S4-4-1] [S2-10.4-2]', async () => {
    const { port, app } = await start()
    const session = await open(port, '2025-06-18')
    const stream = await session.get()
    expect([stream.status, stream.response.headers['content-type']]).toEqual([200, 'text/event-stream'])
    expect(stream.response.headers['x-accel-buffering']).toBe('no')
    await session.post(message('notifications/initialized'))
    app.tool('more', {}, () => 1)
    await stream.until(({ messages }) => messages.length === 1)
    const reply = await session.post(call('echo', { text: 'hi' }))
    expect(reply.json).toMatchObject({ id: 2 })
    expect(stream.messages).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} },
    ])
  })

  test('S.second-get a second GET is 409 while the first is open, and served when it is gone', async () => {
    const { port } = await start()
    const session = await open(port)
    const first = await session.get()
    const second = await session.get()
    expect(second.status).toBe(409)
    expect((await second.end()).raw).toContain('-32600')
    first.drop()
    await expect
      .poll(async () => {
        const next = await session.get()
        next.drop()
        return next.status
      })
      .toBe(200)
  })

  test('changes while no stream is open are sent once to the next one', async () => {
    const { port, app } = await start()
    const session = await open(port, '2025-06-18')
    await session.post(message('notifications/initialized'))
    app.tool('a', {}, () => 1)
    const first = await (await session.get()).until(({ messages }) => messages.length === 1)
    first.drop()
    let next = first
    const reopened = async (): Promise<number> => (next = await session.get()).status
    await expect.poll(reopened).toBe(200)
    app.remove('tool', 'a')
    await next.until(({ messages }) => messages.length > 0)
    expect(next.messages).toHaveLength(1)
  })

  test.each(HANDSHAKES)('at %s it is primed exactly where the revision says so [R093]', async (revision) => {
    const { port, app } = await start()
    const session = await open(port, revision)
    await session.post(message('notifications/initialized'))
    const stream = await session.get()
    app.tool('more', {}, () => 1)
    await stream.until(({ messages }) => messages.length === 1)
    expect(stream.events[0]?.data === '').toBe(PRIMED.includes(revision))
    expect(stream.retryMs).toBeUndefined()
  })

  test('a quiet stream gets comments, which are no events', async () => {
    const { port } = await start(tools(), { limits: { keepAliveMs: 20 } })
    const session = await open(port, '2025-06-18')
    const stream = await session.get()
    await stream.until(({ raw }) => raw.split(': keep-alive\n\n').length > 3)
    expect(stream.events).toEqual([])
  })
})

describe('a stream that is resumed', () => {
  test.each(HANDSHAKES)(
    'F9 at %s, broken at every event it is delivered exactly once and in order [R091] [R092] [R098] [S3-9-11]',
    async (revision) => {
      const { app, step, finish, entered } = stepping()
      const { port } = await start(app)
      const session = await open(port, revision)
      const reply = session.stream(call('stepping', {}, 2, TOKEN))
      await entered
      step()
      let stream = await reply
      const seen: unknown[] = []
      const ids: (string | undefined)[] = []
      const take = (): void => {
        seen.push(
          ...stream.messages.map(
            (one) => (one['params'] as { progress?: number } | undefined)?.progress ?? one['result'],
          ),
        )
        ids.push(...idsOf(stream))
      }
      for (let round = 1; round <= 6; round++) {
        step()
        await stream.until(({ messages }) => messages.length > 0)
        take()
        stream.drop()
        if (round % 2 === 0) step()
        stream = await session.get(ids.at(-1))
        if (round % 2 === 0) {
          await stream.until(({ messages }) => messages.length > 0)
          take()
          stream.drop()
          stream = await session.get(ids.at(-1))
        }
      }
      finish()
      await stream.end()
      take()
      expect(seen.slice(0, -1)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(seen.at(-1)).toMatchObject({ content: [{ text: 'done' }] })
      expect(new Set(ids).size).toBe(ids.length)
    },
  )

  test('every event of a finished stream can be resumed from, and gives exactly what followed [R092]', async () => {
    const { port } = await start()
    const session = await open(port)
    const whole = await (await session.stream(call('steps', { count: 5 }, 2, TOKEN))).end()
    expect(whole.events).toHaveLength(7)
    for (const [at, { id }] of whole.events.entries()) {
      const rest = await (await session.get(id)).end()
      expect(rest.events).toEqual(whole.events.slice(at + 1))
      expect(rest.status).toBe(at === 6 ? 204 : 200)
    }
  })

  test('several streams run side by side and never mix [R101] [R081] [R091]', async () => {
    const { port, app } = await start()
    const session = await open(port)
    await session.post(message('notifications/initialized'))
    const unasked = await session.get()
    app.tool('more', {}, () => 1)
    await unasked.until(({ messages }) => messages.length === 1)
    const streams = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        session.stream(call('steps', { count: 4 }, at + 10, { progressToken: at })),
      ),
    )
    await Promise.all(streams.map((stream) => stream.end()))
    const ids = [...streams, unasked].flatMap(idsOf)
    expect(new Set(ids).size).toBe(ids.length)
    expect(unasked.messages).toMatchObject([{ method: 'notifications/tools/list_changed' }])
    unasked.drop()
    for (const [at, stream] of streams.entries()) {
      expect(
        stream.messages.slice(0, -1).map(({ params }) => (params as { progressToken: number }).progressToken),
      ).toEqual(Array(4).fill(at))
      expect(stream.messages.at(-1)).toMatchObject({ id: at + 10 })
    }
    const rest = await (await session.get(streams[3]?.events[1]?.id)).end()
    expect(rest.messages.at(-1)).toMatchObject({ id: 13 })
  })

  test('S.replay-odd values that name no event of the session replay nothing', async () => {
    const { port } = await start()
    const session = await open(port)
    await (await session.stream(call('steps', { count: 2 }, 2, TOKEN))).end()
    for (const id of [
      '',
      'x',
      'r1',
      'r9_0',
      '__proto__',
      '__proto___0',
      'constructor_1',
      'r1_-1',
      'r1_1e3',
      '../r1_0',
      'r1_0'.repeat(900),
    ]) {
      const reply = await send(port, { method: 'GET', headers: { ...session.headers, 'last-event-id': id } })
      expect([reply.status, id.slice(0, 20)]).toEqual([400, id.slice(0, 20)])
    }
    const late = await session.get('r1_999')
    expect((await late.end()).events).toEqual([])
  })

  test('S.replay-foreign an event id of another session replays nothing of it [R092]', async () => {
    const { port } = await start()
    const [mine, theirs] = [await open(port), await open(port)]
    const secret = await (await mine.stream(call('steps', { count: 2 }, 2, TOKEN))).end()
    const reply = await theirs.get(secret.events[0]?.id)
    expect(reply.status).toBe(400)
  })

  test('the oldest finished streams are discarded', async () => {
    const { port } = await start(tools(), { limits: { keptStreams: 2 } })
    const session = await open(port)
    const first = await (await session.stream(call('steps', { count: 1 }, 2, TOKEN))).end()
    for (let id = 3; id < 6; id++) await (await session.stream(call('steps', { count: 1 }, id, TOKEN))).end()
    expect((await (await session.get(first.events[0]?.id)).end()).raw).toBe('')
  })

  test('streams that are over keep no more together than one may', async () => {
    const app = tools().tool('wide', {}, async (_, { progress }) => {
      progress(1, 2, 'x'.repeat(4000))
      return 'done'
    })
    const { port, endpoint } = await start(app, { limits: { streamBytes: 10_000 } })
    const session = await open(port)
    const firsts: string[] = []
    for (let id = 2; id < 12; id++) {
      const whole = await (await session.stream(call('wide', {}, id, TOKEN))).end()
      firsts.push(whole.events[0]?.id ?? '')
    }
    const statuses: number[] = []
    for (const id of firsts) statuses.push((await session.get(id)).status)
    expect(statuses.slice(0, 7)).toEqual(Array(7).fill(204))
    expect(statuses.at(-1)).toBe(200)
    expect(endpoint.sessions.size).toBe(1)
  })

  test('a broken connection does not stop the work; the answer waits for the client, on that stream only [R098] [R080]', async () => {
    const { app, step, finish, entered } = stepping()
    const { port } = await start(app)
    const session = await open(port)
    const reply = session.stream(call('stepping', {}, 2, TOKEN))
    await entered
    step()
    const stream = await reply
    await stream.until(({ messages }) => messages.length === 1)
    stream.drop()
    const unasked = await session.get()
    finish()
    const rest = await (await session.get(stream.events.at(-1)?.id)).end()
    expect(rest.messages).toMatchObject([{ id: 2, result: { content: [{ text: 'done' }] } }])
    expect([unasked.status, unasked.messages]).toEqual([200, []])
    unasked.drop()
  })

  test('a cancelled stream ends without an answer and cannot be resumed [R194]', async () => {
    const { app, step, finish, entered } = stepping()
    const { port } = await start(app)
    const session = await open(port)
    const reply = session.stream(call('stepping', {}, 2, TOKEN))
    await entered
    step()
    const stream = await reply
    await stream.until(({ messages }) => messages.length === 1)
    await session.post(message('notifications/cancelled', { requestId: 2 }))
    step()
    finish()
    await stream.end()
    expect(stream.messages).toHaveLength(1)
    const places = stream.events.map(({ id }) => id)
    expect(new Set(places).size).toBe(2)
    for (const place of places) expect((await session.get(place)).status).toBe(204)
  })
})

describe('hanging up', () => {
  const polling = (): { readonly app: App; readonly gate: Gate } => {
    const gate = new Gate()
    const app = tools().tool('poll', {}, async (_, { closeStream, progress }) => {
      closeStream(40)
      gate.enter()
      await gate.opened
      progress(1)
      return 'later'
    })
    return { app, gate }
  }

  test('at 2025-11-25 the client learns when to reconnect, and then gets the answer [R093] [R094]', async () => {
    const { app, gate } = polling()
    const { port } = await start(app)
    const session = await open(port)
    const first = await (await session.stream(call('poll', {}, 2, TOKEN))).end()
    expect(first.events).toMatchObject([{ data: '' }])
    expect([first.retryMs, first.messages]).toEqual([40, []])
    const second = await session.get(first.events[0]?.id)
    gate.open()
    await second.end()
    expect(second.messages).toMatchObject([
      { method: 'notifications/progress' },
      { id: 2, result: { content: [{ text: 'later' }] } },
    ])
  })

  test('a client that reconnects when all is done gets everything at once', async () => {
    const { app, gate } = polling()
    const { port } = await start(app)
    const session = await open(port)
    const first = await (await session.stream(call('poll', {}, 2, TOKEN))).end()
    gate.open()
    await expect.poll(async () => (await session.post(message('ping', {}, 2))).status).toBe(200)
    const second = await (await session.get(first.events[0]?.id)).end()
    expect(second.messages).toMatchObject([{ method: 'notifications/progress' }, { id: 2 }])
  })

  test.each(HANDSHAKES.filter((revision) => !PRIMED.includes(revision)))(
    'at %s a stream is never closed before its answer [R096]',
    async (revision) => {
      const { app, gate } = polling()
      const { port } = await start(app)
      const session = await open(port, revision)
      const reply = session.stream(call('poll', {}, 2, TOKEN))
      await gate.entered
      gate.open()
      const stream = await (await reply).end()
      expect(stream.retryMs).toBeUndefined()
      expect(stream.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'later' }] } })
    },
  )
})

describe('questions to the client', () => {
  test('come on the stream of the request, and the answer with another POST [R081]', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const
    const app = tools().tool('ask', {}, async (_, { elicit }) => {
      const { action } = await elicit('sure?', schema)
      return action
    })
    const { port } = await start(app)
    const session = await open(port, '2025-11-25', { elicitation: {} })
    const stream = await session.stream(call('ask'))
    await stream.until(({ messages }) => messages.length === 1)
    const [question] = stream.messages
    expect(question).toMatchObject({ method: 'elicitation/create' })
    const answer = JSON.stringify({ jsonrpc: '2.0', id: question?.['id'], result: { action: 'decline' } })
    expect((await session.post(answer)).status).toBe(202)
    await stream.end()
    expect(stream.messages[1]).toMatchObject({ id: 2, result: { content: [{ text: 'decline' }] } })
  })

  test('cannot be put to a client that takes only JSON', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } } as const
    const app = tools().tool('ask', {}, async (_, { elicit }) => (await elicit('sure?', schema)).action)
    const { port } = await start(app)
    const session = await open(port, '2025-11-25', { elicitation: {} })
    const reply = await session.post(call('ask'), { accept: 'application/json' })
    expect(reply.json['result']).toMatchObject({ isError: true })
  })
})

test('closing the stream of a request that was answered does nothing', async () => {
  let closeLate = (): void => undefined
  const app = tools().tool('early', {}, (_, { closeStream }) => {
    closeLate = closeStream
    return 'answered'
  })
  const { port } = await start(app)
  const firstEvent = async (session: Session): Promise<string | undefined> => {
    const reply = await session.stream(call('steps', { count: 1 }, 9, { progressToken: 't' }))
    return (await reply.end()).events[0]?.id
  }
  const session = await open(port)
  await session.post(call('early'))
  closeLate()
  // Events are numbered by stream: another stream of this session would have been counted.
  expect(await firstEvent(session)).toBe(await firstEvent(await open(port)))
})
