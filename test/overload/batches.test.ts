import { connect as connectTcp } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App, type ServerOptions } from '../../src/index.ts'
import type { HttpIn } from '../../src/transport/http/server/parts.ts'
import { replyText } from '../../src/wire/reply.ts'
import { call, initialize, message } from '../http/messages.ts'
import { Gate, open as openSession, start } from '../http/server.ts'

interface Answer {
  readonly id: number
  readonly result?: { readonly content: readonly { readonly text: string }[] }
  readonly error?: { readonly code: number; readonly message: string }
}

/** Takes the text of a message as if it had just arrived; resolves to the answer, if there is one. */
type Send = (text: string) => Promise<Answer | readonly Answer[] | undefined>

/** How a client reaches an app: as a session over HTTP, or over a connection, of which the one in memory stands for all. */
const OPEN = {
  http: async (app: App): Promise<Send> => {
    const { endpoint, port } = await start(app, { limits: app.limits })
    const { headers } = await openSession(port, '2025-03-26')
    return async (body) => {
      const own: Readonly<Record<string, string>> = { ...headers, accept: 'application/json' }
      const request: HttpIn = { method: 'POST', header: (name) => own[name], body, onGone: () => undefined }
      const out = await endpoint.answer(request)
      return out.body === undefined ? undefined : (JSON.parse(replyText(out.body)) as Answer | Answer[])
    }
  },
  memory: async (app: App): Promise<Send> => {
    const waiting = new Map<number, (answer: Answer | readonly Answer[]) => void>()
    const receive = (text: string): void => {
      const answer = JSON.parse(text) as Answer | readonly Answer[]
      waiting.get([answer].flat()[0]?.id as number)?.(answer)
    }
    const end = app.connect({ receive })
    onTestFinished(() => end.close())
    const send: Send = (text) => {
      const { id } = [JSON.parse(text) as Answer | Answer[]].flat()[0] as Answer
      const answer =
        id === undefined
          ? undefined
          : new Promise<Answer | readonly Answer[]>((resolve) => waiting.set(id, resolve))
      end.send(text)
      return Promise.resolve(answer)
    }
    const opened = new Promise((resolve) => waiting.set(1, resolve))
    end.send(initialize('2025-03-26'))
    await opened
    return send
  },
}
const KINDS = ['http', 'memory'] as const

const batch = (...texts: string[]): string => `[${texts.join(',')}]`
/** Takes 64 kB in memory, and 3 kB as text. */
const LARGE = Array.from({ length: 1000 }, () => [])

/** A server whose handlers write down what they do. */
function make(limits: Exclude<ServerOptions['limits'], string> = {}) {
  const ran: unknown[] = []
  const gate = new Gate()
  const input = { type: 'object', properties: { tag: {}, list: {} } } as const
  const app = createServer({ name: 'batches', version: '1', log: () => undefined, limits })
    .tool('note', { input }, ({ tag }) => {
      ran.push(tag)
      return 'noted'
    })
    .tool('hold', { input }, async ({ tag }) => {
      ran.push(tag)
      await gate.opened
      return 'held'
    })
    // Takes so long that others get a turn before the next message of the batch.
    .tool('spin', { input }, ({ tag }) => {
      ran.push(tag)
      const end = performance.now() + 25
      while (performance.now() < end);
      return 'spun'
    })
  return { app, ran, gate }
}

const codes = (answer: Awaited<ReturnType<Send>>): unknown[] =>
  [answer ?? []].flat().map(({ error }) => error?.code)

test.each(KINDS)('limits.inFlightBytes counts a batch like one message, over %s', async (kind) => {
  const { app, ran, gate } = make({ inFlightBytes: 800_000 })
  const send = await OPEN[kind](app)
  const small = (id: number): string[] =>
    Array.from({ length: 60 }, (_, at) => call('note', { tag: 'small' }, id * 1000 + at))
  const large = (id: number): Promise<unknown[]> =>
    send(batch(call('hold', { tag: id, list: LARGE }, id), ...small(id))).then(codes)
  const first = [large(1), large(2)]
  expect(new Set(await large(3))).toEqual(new Set([1002]))
  // Small messages are admitted, whatever others hold.
  expect(codes(await send(batch(call('note', { tag: 4 }, 4), message('ping', {}, 5))))).toEqual([
    undefined,
    undefined,
  ])
  expect(ran.filter((tag) => tag !== 'small')).toEqual([1, 2, 4])
  gate.open()
  for (const each of first) expect(new Set(await each)).toEqual(new Set([undefined]))
  expect(new Set(await large(6))).toEqual(new Set([undefined]))
})

test.each(KINDS)('limits.inFlightBytes counts what of a batch has not begun, over %s', async (kind) => {
  const { app, ran } = make({ inFlightBytes: 400_000 })
  const send = await OPEN[kind](app)
  const large = (id: number): Promise<unknown[]> =>
    send(batch(call('spin', { tag: id }, id), call('note', { tag: id, list: LARGE }, id + 1))).then(codes)
  const first = [large(10), large(20)]
  expect(await large(30)).toEqual([1002, 1002])
  expect(codes(await send(call('note', { tag: 40, list: LARGE }, 40)))).toEqual([1002])
  for (const each of first) expect(await each).toEqual([undefined, undefined])
  expect(ran).toEqual([10, 20, 10, 20])
  expect(await large(50)).toEqual([undefined, undefined])
})

test.each(KINDS)('limits.inFlight counts a batch that has not begun entirely, over %s', async (kind) => {
  const { app } = make({ inFlight: 2 })
  const send = await OPEN[kind](app)
  const busy = (id: number): Promise<unknown[]> =>
    send(batch(...[0, 1, 2].map((more) => call('spin', {}, id + more)))).then(codes)
  const first = [busy(10), busy(20)]
  expect(await busy(30)).toEqual([1060, 1060, 1060])
  // It does not count for its own messages.
  for (const each of first) expect(await each).toEqual([undefined, undefined, undefined])
  expect(await busy(40)).toEqual([undefined, undefined, undefined])
})

test.each(KINDS)('a request of a batch can be cancelled before it begins, over %s', async (kind) => {
  const { app, ran } = make()
  const outcomes: string[] = []
  app.use({ observer: { end: ({ target }, { outcome }) => void outcomes.push(`${target} ${outcome}`) } })
  const send = await OPEN[kind](app)
  const whole = send(
    batch(call('spin', { tag: 'a' }, 10), call('note', { tag: 'b' }, 11), call('note', { tag: 'c' }, 12)),
  )
  await send(message('notifications/cancelled', { requestId: 11 }))
  expect(((await whole) as readonly Answer[]).map(({ id }) => id)).toEqual([10, 12])
  expect(ran).toEqual(['a', 'c'])
  expect(outcomes.filter((each) => !each.startsWith('undefined'))).toEqual([
    'spin result',
    'note cancelled',
    'note result',
  ])
  expect(codes(await send(call('note', { tag: 'd' }, 11)))).toEqual([undefined])
})

test.each(KINDS)('the id of a request that has not begun is in use, over %s', async (kind) => {
  const { app, ran, gate } = make()
  const send = await OPEN[kind](app)
  const whole = send(batch(call('spin', { tag: 'a' }, 10), 'null', call('hold', { tag: 'b' }, 11)))
  expect(await send(call('note', { tag: 'c' }, 11))).toMatchObject({ error: { code: -32600 } })
  expect(ran).toEqual(['a'])
  // Nor may another batch use it.
  expect(await send(batch(call('note', { tag: 'd' }, 11), call('note', { tag: 'e' }, 12)))).toMatchObject([
    { id: 11, error: { code: -32600 } },
    { id: 12, result: {} },
  ])
  expect(ran.splice(1)).toEqual(['e'])
  gate.open()
  expect(((await whole) as readonly Answer[]).map(({ id }) => id ?? undefined)).toEqual([10, undefined, 11])
  expect(ran).toEqual(['a', 'b'])
})

test('over HTTP, a server that closes answers the whole batch that came before, and nothing that comes later', async () => {
  const app = createServer({ name: 'stops', version: '1' })
    .tool('stop', {}, () => {
      closed = endpoint.close()
      const end = performance.now() + 25
      while (performance.now() < end);
      return 'stopping'
    })
    .tool('note', {}, () => 'noted')
  const { endpoint, port } = await start(app)
  let closed: Promise<void> | undefined
  const { headers } = await openSession(port, '2025-03-26')
  const post = async (body: string): Promise<unknown> => {
    const own: Readonly<Record<string, string>> = { ...headers, accept: 'application/json' }
    const out = await endpoint.answer({
      method: 'POST',
      header: (name) => own[name],
      body,
      onGone: () => undefined,
    })
    return JSON.parse(replyText(out.body as string))
  }
  const whole = post(batch(call('stop', {}, 1), call('note', {}, 2), call('note', {}, 3)))
  expect(await post(call('note', {}, 4))).toMatchObject({ error: { code: 1077 } })
  expect(await post(batch(call('note', {}, 5)))).toMatchObject([{ error: { code: 1077 } }])
  expect(await whole).toMatchObject([{ result: {} }, { result: {} }, { result: {} }])
  await closed
})

test.each([0, 25])(
  'over TCP, a server closed by the first request of a batch answers all, after %d ms',
  async (ms) => {
    const app = createServer({ name: 'stops', version: '1' })
      .tool('stop', {}, () => {
        void running.close()
        const end = performance.now() + ms
        while (performance.now() < end);
        return 'stopping'
      })
      .tool('note', {}, () => 'noted')
    const running = await app.listen({ tcp: { port: 0 } })
    onTestFinished(() => running.close())
    const socket = connectTcp(Number(new URL(running.addresses.tcp as string).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    socket.write(`${initialize('2025-03-26')}\n`)
    await lines.next()
    socket.write(`${batch(call('stop', {}, 1), call('note', {}, 2), call('note', {}, 3))}\n`)
    const { value } = await lines.next()
    expect(JSON.parse(value as string)).toMatchObject([{ result: {} }, { result: {} }, { result: {} }])
  },
)

test.each(KINDS.flatMap((kind) => [true, false].map((isAsync) => ({ kind, isAsync }))))(
  'the answers to a batch take at most a quarter of limits.unsentBytes, $kind, async $isAsync',
  async ({ kind, isAsync }) => {
    const read = (): string => 'x'.repeat(60_000)
    const app = createServer({ name: 'batches', version: '1', limits: { unsentBytes: 1_000_000 } })
    app.resource('log://all', {}, isAsync ? async () => read() : read)
    const send = await OPEN[kind](app)
    const reads = Array.from({ length: 20 }, (_, at) =>
      message('resources/read', { uri: 'log://all' }, at + 2),
    )
    const answers = (await send(batch(...reads))) as readonly Answer[]
    expect(answers.map(({ id }) => id)).toEqual(reads.map((_, at) => at + 2))
    const [whole, refused] = [answers.slice(0, 4), answers.slice(4)]
    for (const answer of whole) expect(answer).toHaveProperty('result')
    for (const { error } of refused)
      expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('250000 characters') })
    expect(await send(reads[0] as string)).toHaveProperty('result')
  },
)

test.each(KINDS)('ids beyond the safe integers do not exempt answers from that limit, %s', async (kind) => {
  const app = createServer({ name: 'batches', version: '1', limits: { unsentBytes: 1_000_000 } })
  app.resource('log://all', {}, () => 'x'.repeat(60_000))
  const send = await OPEN[kind](app)
  const read = message('resources/read', { uri: 'log://all' }, 2)
  const large = [1, 2, 3, 4, 5].map((at) => read.replace('"id":2', `"id":9007199254741${at}00`))
  const answers = (await send(batch(read, ...large))) as readonly Answer[]
  expect(answers.map((answer) => 'result' in answer)).toEqual([true, true, true, true, false, false])
})

test('a batch that is over the limit still delivers the answer to a question', async () => {
  const app = createServer({ name: 'batches', version: '1', limits: { unsentBytes: 1_000_000 } })
    .tool('log', {}, () => 'x'.repeat(60_000))
    .tool('roots', {}, async (_, ctx) => (await ctx.roots())[0]?.uri ?? 'none')
  const received: (Answer & { readonly method?: string })[] = []
  let onMessage: () => void = () => undefined
  const end = app.connect({
    receive: (text) => {
      received.push(...([JSON.parse(text)].flat() as Answer[]))
      onMessage()
    },
  })
  onTestFinished(() => end.close())
  const found = (isIt: (one: (typeof received)[number]) => boolean): Promise<Answer> =>
    new Promise((resolve) => {
      onMessage = () => {
        const one = received.find(isIt)
        if (one !== undefined) resolve(one)
      }
      onMessage()
    })
  end.send(initialize('2025-03-26', { roots: {} }))
  end.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  end.send(call('roots', {}, 50))
  const { id } = await found(({ method }) => method === 'roots/list')
  const reads = Array.from({ length: 6 }, (_, at) => call('log', {}, at + 2))
  const answer = { jsonrpc: '2.0', id, result: { roots: [{ uri: 'file:///here' }] } }
  end.send(batch(...reads, JSON.stringify(answer)))
  expect(await found((one) => one.id === 50)).toMatchObject({
    result: { content: [{ text: 'file:///here' }] },
  })
})
