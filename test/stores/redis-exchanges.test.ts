import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { redis } from '../../src/stores.ts'
import { exchangeProxy, type ExchangeProxy } from '../harness/exchanges.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const LONG_MS = 3_600_000
const ROOM = { events: 2, bytes: 1000, idleMs: LONG_MS }
const SESSION = { id: 'a', countedFor: '', fields: new Map([['b', 'c']]), idleMs: LONG_MS }
const NODE = { server: 'films', inMemory: [] }

type Driver = ReturnType<typeof redis>

let server: TestRedis
let proxy: ExchangeProxy
let driver: Driver
beforeAll(async () => {
  server = await startRedis()
  proxy = await exchangeProxy(server.port)
  driver = redis({ url: `redis://127.0.0.1:${proxy.port}`, warn() {} })
})
afterAll(async () => {
  await driver.close()
  proxy.close()
  await server.close()
})

const STEPS: Readonly<Record<string, (stores: Driver) => unknown>> = {
  'creating a session': ({ sessions }) => sessions.create(SESSION, { sessions: 9, freshMs: 0 }),
  'using a session': ({ sessions }) => sessions.use('a', undefined, LONG_MS),
  'using a session that is known': ({ sessions }) => sessions.use('a', 1, LONG_MS),
  'changing a session': ({ sessions }) => sessions.change('a', new Map([['b', null]])),
  'counting sessions': ({ sessions }) => sessions.count(),
  'opening a stream': ({ events }) => events.open('a', 's', 'node', ROOM),
  'adding an event': ({ events }) => events.append('a', 's', { text: 'b' }, ROOM),
  'adding an event in place of an old one': async ({ events }) =>
    events.append('a', 's', { text: 'c'.repeat(999) }, ROOM),
  'reading events': ({ events }) => events.read('a', 's', -1, 9),
  'reading a position': ({ events }) => events.position('a', 's'),
  'discarding events': ({ events }) => events.trim('a', 's', 1),
  'forgetting a stream': ({ events }) => events.forget('a'),
  'ending a session': ({ sessions }) => sessions.end('a'),
  'publishing a message': ({ changes }) => changes.publish('a'),
  'reading messages': ({ changes }) => changes.read(0, 9),
  'setting a text': ({ cache }) => cache.set('a', 'b', LONG_MS),
  'adding a text': ({ cache }) => cache.add('b', 'b', LONG_MS),
  'counting a request': ({ rates }) => rates.use('a', 1, LONG_MS),
  joining: ({ nodes }) => nodes.join(NODE, LONG_MS),
  'a sign of life': ({ nodes }) => nodes.beat(1, LONG_MS),
}

test.each(Object.entries(STEPS))('%s is one exchange', async (_, step) => {
  // The first step connects. Later, what the step before did not wait for is answered first.
  await driver.cache.get('a')
  const before = proxy.count
  await step(driver)
  expect(proxy.count - before).toBe(1)
})

const STREAM = ['a', 's'] as const
const texts = async ({ events }: Driver): Promise<unknown> =>
  (await events.read(...STREAM, -1, 9))?.events.map(({ text }) => text)

/** Steps whose answer is lost: what they answer in the end, and what was done. */
const REPEATED: Readonly<
  Record<
    string,
    readonly [step: (stores: Driver) => unknown, answer: unknown, done: (stores: Driver) => unknown, unknown]
  >
> = {
  'creating a session': [
    ({ sessions }) => sessions.create(SESSION, { sessions: 9, freshMs: 0 }),
    'created',
    ({ sessions }) => sessions.count(),
    1,
  ],
  'changing a session': [
    async ({ sessions }) => (await sessions.change('a', new Map([['b', 'd']]))) !== undefined,
    true,
    async ({ sessions }) => [...((await sessions.use('a', undefined, LONG_MS))?.fields ?? [])],
    [['b', 'd']],
  ],
  'ending a session': [({ sessions }) => sessions.end('a'), true, ({ sessions }) => sessions.count(), 0],
  'adding an event': [({ events }) => events.append(...STREAM, { text: 'b' }, ROOM), 0, texts, ['b']],
  'adding an event with its number': [
    ({ events }) => events.append(...STREAM, { text: 'c', seq: 1 }, ROOM),
    1,
    texts,
    ['b', 'c'],
  ],
  'adding an event with a position': [
    ({ events }) => events.append(...STREAM, { text: 'd', position: 7 }, { ...ROOM, events: 3 }),
    2,
    texts,
    ['b', 'c', 'd'],
  ],
  'publishing a message': [({ changes }) => changes.publish('x'), 1, ({ changes }) => changes.position(), 1],
}

test('steps whose answer is lost are repeated, and done once', async () => {
  const lost = redis({
    url: `redis://127.0.0.1:${proxy.port}`,
    prefix: 'lost',
    commandTimeout: '30s',
    warn() {},
  })
  onTestFinished(() => lost.close())
  await lost.events.open(...STREAM, 'node', ROOM)
  for (const [name, [step, answer, done, result]] of Object.entries(REPEATED)) {
    await lost.cache.get('a')
    proxy.loseAnswer()
    expect([name, await step(lost), await done(lost)]).toEqual([name, answer, result])
  }
})

test('steps that must not be done twice fail if their answer is lost', async () => {
  const lost = redis({
    url: `redis://127.0.0.1:${proxy.port}`,
    prefix: 'once',
    commandTimeout: '30s',
    warn() {},
  })
  onTestFinished(() => lost.close())
  for (const step of [() => lost.cache.add('a', 'b', LONG_MS), () => lost.nodes.join(NODE, LONG_MS)]) {
    await lost.cache.get('b')
    proxy.loseAnswer()
    await expect(step()).rejects.toMatchObject({ kind: 'store_unreachable' })
  }
  expect(await lost.cache.get('a')).toBe('b')
})

test('uses of many sessions are noted in the index together, and a session that ended meanwhile does not come back', async () => {
  const many = redis({ url: server.url, prefix: 'many', warn() {} })
  onTestFinished(() => many.close())
  const ids = Array.from({ length: 40 }, (_, at) => `session-${at}`)
  const create = (id: string): unknown =>
    many.sessions.create({ ...SESSION, id }, { sessions: 99, freshMs: 0 })
  await Promise.all(ids.map(create))
  const scriptsBefore = await scriptsRun()
  // Another idle time must be noted at once.
  await Promise.all(ids.map(async (id) => many.sessions.use(id, 1, 2 * LONG_MS)))
  const [ended = '', ...others] = ids
  await many.sessions.end(ended)
  const lateEnds = async (): Promise<string> =>
    server.send('ZCOUNT', 'many:{sessions}:ends', String(Date.now() + 1.5 * LONG_MS), '+inf')
  await expect.poll(lateEnds).toBe(`:${others.length}\r\n`)
  await expect.poll(() => many.sessions.count()).toBe(others.length)
  // Each use is a script; the end, the note of all, what takes the ended one out again, and counts are few.
  expect((await scriptsRun()) - scriptsBefore).toBeLessThan(ids.length + 15)
})

/** How many scripts Redis has run so far. */
async function scriptsRun(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await server.send('INFO', 'commandstats'))?.[1])
}
