import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { NodeStore } from '../../src/rpc/node-store.ts'
import { RedisChangeBus } from '../../src/store/changes-redis.ts'
import { Lifetime } from '../../src/store/lifetime.ts'
import type { RedisConnection } from '../../src/store/redis-connection.ts'
import { RedisLink } from '../../src/store/redis-link.ts'
import { redis } from '../../src/stores.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const ROOM = { events: 3, bytes: 1_000_000, idleMs: 600_000 }
const BRIEF = { ...ROOM, idleMs: 1 }

let server: TestRedis
beforeAll(async () => void (server = await startRedis()))
afterAll(() => server.close())

interface Opened {
  readonly driver: ReturnType<typeof redis>
  readonly prefix: string
}

function open(): Opened {
  const prefix = crypto.randomUUID()
  const driver = redis({ url: server.url, prefix, warn: () => undefined })
  onTestFinished(() => driver.close())
  return { driver, prefix }
}

const count = async (...command: readonly string[]): Promise<number> =>
  Number((await server.send(...command)).slice(1))

test('streams that have expired leave no names while their session lives', async () => {
  const { driver, prefix } = open()
  const names = `${prefix}:{s:s}:streams`
  await driver.events.open('s', 'kept', '', ROOM)
  for (let at = 0; at < 200; at++) await driver.events.open('s', `brief ${at}`, '', BRIEF)
  const head = `${prefix}:{s:s}:h:brief 199`
  await vi.waitFor(async () => expect(await count('EXISTS', head)).toBe(0), 10_000)
  for (let at = 0; at < 200; at++) await driver.events.open('s', `later ${at}`, '', BRIEF)
  expect(await count('SCARD', names)).toBeLessThan(300)
  expect(await count('SISMEMBER', names, 'kept')).toBe(1)
})

test('the bus goes on if its messages are gone', async () => {
  const { driver, prefix } = open()
  const heard: string[] = []
  const gaps: number[] = []
  for (let at = 1; at <= 20; at++) await driver.changes.publish(`${at}`)
  await server.send('DEL', `${prefix}:{bus}:e`)
  expect(await driver.changes.publish('21')).toBe(21)
  const stop = await driver.changes.subscribe(
    5,
    ({ position, text }) => void heard.push(`${position} ${text}`),
    (position) => void gaps.push(position),
  )
  onTestFinished(stop)
  expect(await driver.changes.publish('22')).toBe(22)
  await vi.waitFor(() => expect(heard).toEqual(['21 21', '22 22']))
  expect(gaps).toEqual([20])
})

test('the bus goes on if only its messages are left', async () => {
  const { driver, prefix } = open()
  for (let at = 1; at <= 20; at++) await driver.changes.publish(`${at}`)
  await server.send('DEL', `${prefix}:{bus}:h`)
  expect(await driver.changes.publish('again')).toBe(1)
  expect(await driver.changes.read(0, 10)).toEqual([{ position: 1, text: 'again' }])
})

test('a stream goes on if some of its events are gone', async () => {
  const { driver, prefix } = open()
  await driver.events.open('s', 'a', '', ROOM)
  for (let at = 0; at < 3; at++) await driver.events.append('s', 'a', { text: `${at}` }, ROOM)
  await server.send('DEL', `${prefix}:{s:s}:e:a`)
  expect((await driver.events.read('s', 'a', -1, 10))?.first).toBe(3)
  await driver.events.trim('s', 'a', 1)
  expect(await driver.events.append('s', 'a', { text: '3' }, ROOM)).toBe(3)
  expect(await driver.events.append('s', 'a', { text: '4' }, ROOM)).toBe(4)
  const page = await driver.events.read('s', 'a', -1, 10)
  expect(page?.events).toEqual([
    { seq: 3, text: '3' },
    { seq: 4, text: '4' },
  ])
})

test('a use that is noted late does not bring an ended session back', async () => {
  const { driver, prefix } = open()
  const room = { sessions: 10, freshMs: 0 }
  const fields = new Map([['a', 'b']])
  await driver.sessions.create({ id: 's', countedFor: 'ann', fields, idleMs: 60_000 }, room)
  // The index does not know the session any more when the use is noted, since another node has ended it in between.
  for (const key of ['ends', 'owners', 'owner', 'of:ann'])
    await server.send('DEL', `${prefix}:{sessions}:${key}`)
  await server.send('HSET', `${prefix}:{s:s}`, 't', '0')
  const using = driver.sessions.use('s', undefined, 60_000)
  const ending = driver.sessions.end('s')
  await Promise.all([using, ending])
  await vi.waitFor(async () => expect(await driver.sessions.count()).toBe(0))
})

test('a session that the index has lost is in it again after its next use', async () => {
  const { driver, prefix } = open()
  const room = { sessions: 10, freshMs: 0 }
  await driver.sessions.create({ id: 's', countedFor: 'ann', fields: new Map(), idleMs: 60_000 }, room)
  for (const key of ['ends', 'owners', 'owner', 'of:ann'])
    await server.send('DEL', `${prefix}:{sessions}:${key}`)
  await server.send('HSET', `${prefix}:{s:s}`, 't', '0')
  await driver.sessions.use('s', undefined, 60_000)
  await vi.waitFor(async () => expect(await driver.sessions.count()).toBe(1))
})

test('each warning is given once, and beyond a bound none', () => {
  const texts: string[] = []
  const settings = { url: server.url, template: undefined, timeoutMs: 1000, place: 'here', prefix: 'p' }
  const link = new RedisLink({ ...settings, warn: (text) => void texts.push(text) })
  const warn = (message: string): void =>
    link.warnOf(Object.assign(new Error(message), { name: 'ReplyError' }))
  for (let at = 0; at < 30; at++) for (let again = 0; again < 3; again++) warn(`NOPERM ${at}`)
  expect(texts).toEqual(Array.from({ length: 20 }, (_, at) => `here: NOPERM ${at}`))
  link.close()
})

test('a subscription that ends while its connection is made leaves none behind', async () => {
  let connect: (connection: RedisConnection) => void = () => undefined
  const connecting = new Promise<RedisConnection>((resolve) => (connect = resolve))
  const released: unknown[] = []
  let isAsked = false
  let reads = 0
  const client = {
    call: async (name: string) => (name === 'XRANGE' ? [] : 0),
    xread: async () => (reads++, await new Promise((resolve) => setImmediate(resolve)), null),
  }
  const connection = { current: client, ready: async () => client } as unknown as RedisConnection
  const link = {
    key: (...parts: readonly string[]) => parts.join(''),
    lifetime: new Lifetime(),
    run: async () => null,
    warnOf: () => undefined,
    release: (one: unknown) => void released.push(one),
    connection: () => ((isAsked = true), connecting),
  } as unknown as RedisLink
  const stop = new RedisChangeBus(link, ROOM, {} as NodeStore).subscribe(
    0,
    () => undefined,
    () => undefined,
  )
  await vi.waitFor(() => expect(isAsked).toBe(true))
  stop()
  connect(connection)
  await vi.waitFor(() => expect(released).toEqual([connection]))
  expect(reads).toBe(0)
  link.lifetime.end()
})

test('after a change of a program that remembers no names, nodes read all fields, and then changes again', async () => {
  const { driver, prefix } = open()
  const { sessions } = driver
  const key = `${prefix}:{s:s}`
  const fields = new Map([['a', '1']])
  await sessions.create({ id: 's', countedFor: '', fields, idleMs: 600_000 }, { sessions: 9, freshMs: 0 })
  const read = async (known: number): Promise<unknown> => {
    const { version, fields: all, changes } = (await sessions.use('s', known, 600_000)) ?? {}
    return [version, all && [...all], changes && [...changes]]
  }
  expect(await sessions.change('s', new Map([['b', '2']]))).toBe(2)
  await server.send('HSET', key, '=a', 'x')
  await server.send('HINCRBY', key, 'v', '1')
  const all = [
    ['a', 'x'],
    ['b', '2'],
  ]
  for (const known of [1, 2]) expect(await read(known)).toEqual([3, all, undefined])
  expect(await sessions.change('s', new Map([['c', '3']]))).toBe(4)
  expect(await read(3)).toEqual([4, undefined, [['c', '3']]])
  expect(await read(2)).toEqual([4, [...all, ['c', '3']], undefined])
  // Many at once, and no names stay behind.
  await server.send('HINCRBY', key, 'v', '1000000')
  for (let nth = 0; nth < 40; nth++) await sessions.change('s', new Map([['d', `${nth}`]]))
  expect(await read(1_000_012)).toEqual([1_000_044, undefined, [['d', '39']]])
  expect(await read(1_000_011)).toEqual([1_000_044, [...all, ['c', '3'], ['d', '39']], undefined])
  // Four fields, their names, and what else a session has.
  expect(await count('HLEN', key)).toBe(4 + 32 + 6)
})
