import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { redis, type RedisOptions } from '../../src/stores.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const LONG_MS = 3_600_000
const ROOM = { events: 100, bytes: 100_000, idleMs: LONG_MS }
const UNREACHABLE = { kind: 'store_unreachable', retryable: true, retryAfterMs: 1000 }

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

const silent = (): void => {}

function opened(options: RedisOptions = {}): ReturnType<typeof redis> {
  const driver = redis({ url: server.url, prefix: crypto.randomUUID(), warn: silent, ...options })
  onTestFinished(() => driver.close())
  return driver
}

test('a server that was never there is an error that clients may retry', async () => {
  const { sessions, changes } = opened({ url: 'redis://127.0.0.1:1', commandTimeout: 100 })
  await expect(sessions.use('a', undefined, LONG_MS)).rejects.toMatchObject(UNREACHABLE)
  await expect(changes.publish('a')).rejects.toMatchObject(UNREACHABLE)
})

test('errors have no password and no arguments of commands', async () => {
  const url = `redis://user:geheim@127.0.0.1:1`
  const { cache } = opened({ url, commandTimeout: 50 })
  const error = await Promise.resolve(cache.set('a', 'private', LONG_MS)).catch((one: unknown) => one)
  const { cause } = error as Error
  const told = JSON.stringify([
    error,
    (error as Error).message,
    (error as { hint: string }).hint,
    cause,
    (cause as Error).message,
    { ...(cause as object) },
  ])
  expect(told).toContain('127.0.0.1:1')
  expect(told).not.toMatch(/geheim|private/)
})

test('a wrong password is an error that names it', async () => {
  const locked = await startRedis('--requirepass', 'right')
  onTestFinished(() => locked.close())
  const { cache } = opened({ url: locked.url.replace('//', '//:wrong@'), commandTimeout: '30s' })
  const failure = { ...UNREACHABLE, hint: expect.stringContaining('WRONGPASS') as string }
  await expect(cache.get('a')).rejects.toMatchObject(failure)
})

test('a user without the right to run scripts is an error that says so', async () => {
  await server.send('ACL', 'SETUSER', 'reader', 'on', '>pass', '~*', '&*', '+@read', '+info', '+client')
  const { cache } = opened({ url: server.url.replace('//', '//reader:pass@') })
  const failure = { kind: 'store_failed', hint: expect.stringContaining('run scripts') as string }
  await expect(cache.get('a')).rejects.toMatchObject(failure)
})

test('a user without the right to subscribe is a warning', async () => {
  await server.send('ACL', 'SETUSER', 'deaf', 'on', '>pass', '~*', 'resetchannels', '+@all', '-xread')
  const texts: string[] = []
  const url = server.url.replace('//', '//deaf:pass@')
  const { events, changes } = opened({ url, warn: (text) => void texts.push(text) })
  events.watch('a', 's', silent)
  await changes.subscribe(0, silent, silent)
  await expect.poll(() => texts.length).toBe(2)
  expect(texts.every((text) => text.includes('NOPERM') && !text.includes('pass'))).toBe(true)
})

test('while the server is away, steps fail in time; they work again when it is back', async () => {
  const driver = opened({ commandTimeout: '1s' })
  const { sessions, events } = driver
  const session = { id: 'a', countedFor: '', fields: new Map([['b', 'c']]), idleMs: LONG_MS }
  await sessions.create(session, { sessions: 9, freshMs: 0 })
  await events.open('a', 's', 'node', ROOM)
  await events.append('a', 's', { text: 'before' }, ROOM)
  await server.kill()
  const failed = [sessions.use('a', 1, LONG_MS), events.append('a', 's', { text: 'lost', seq: 1 }, ROOM)]
  for (const step of failed) await expect(step).rejects.toMatchObject(UNREACHABLE)
  await server.restart()
  await expect
    .poll(async () => Promise.resolve(sessions.use('a', undefined, LONG_MS)).catch(() => undefined))
    .toMatchObject({ fields: new Map([['b', 'c']]) })
  expect(await events.append('a', 's', { text: 'after', seq: 1 }, ROOM)).toBe(1)
  const page = await events.read('a', 's', -1, 9)
  expect(page?.events.map(({ text }) => text)).toEqual(['before', 'after'])
})

test('a step waits for a server that is back in time', async () => {
  const { cache } = opened({ commandTimeout: '30s' })
  await cache.set('a', '1', LONG_MS)
  await server.kill()
  const read = cache.get('a')
  await server.restart()
  expect(await read).toBe('1')
})

test('a server that does not answer is an error in time', async () => {
  const { cache, changes } = opened({ commandTimeout: '1s' })
  await cache.set('a', '1', LONG_MS)
  server.freeze()
  const steps = [cache.get('a'), changes.publish('a'), cache.add('b', '1', LONG_MS)]
  for (const step of steps) await expect(step).rejects.toMatchObject(UNREACHABLE)
  server.thaw()
  await expect.poll(async () => Promise.resolve(cache.get('a')).catch(() => undefined)).toBe('1')
})

test('nobody misses or repeats a message while the server restarts', async () => {
  const prefix = crypto.randomUUID()
  const [one, two] = [opened({ prefix, commandTimeout: '30s' }), opened({ prefix, commandTimeout: '30s' })]
  const got: string[][] = [[], []]
  for (const [index, { changes }] of [one, two].entries())
    await changes.subscribe(
      0,
      ({ text }) => void got[index]?.push(text),
      () => void got[index]?.push('gap'),
    )
  await one.changes.publish('before')
  await expect.poll(() => got.map(({ length }) => length)).toEqual([1, 1])
  const texts = Array.from({ length: 200 }, (_, index) => `${index}`)
  const published = Promise.all(texts.map(async (text) => two.changes.publish(text)))
  await server.kill()
  await server.restart()
  const positions = await published
  expect(new Set(positions).size).toBe(200)
  await expect.poll(() => got.map(({ length }) => length)).toEqual([201, 201])
  expect(got[0]).toEqual(got[1])
  expect(got[0]?.toSorted()).toEqual(['before', ...texts].toSorted())
})

test('no event is lost or repeated while the server restarts', async () => {
  const { events } = opened({ commandTimeout: '30s' })
  await events.open('a', 's', 'node', { ...ROOM, events: 1000 })
  const texts = Array.from({ length: 200 }, (_, index) => `${index}`)
  const added = Promise.all(
    texts.map(async (text) => events.append('a', 's', { text }, { ...ROOM, events: 1000 })),
  )
  await server.kill()
  await server.restart()
  const numbers = await added
  const page = await events.read('a', 's', -1, 1000)
  expect(page?.events.map(({ text }) => text).toSorted()).toEqual(texts.toSorted())
  expect(page?.events.every(({ seq, text }) => numbers[Number(text)] === seq)).toBe(true)
})

test('watchers hear of what happened while their connection was lost', async () => {
  const prefix = crypto.randomUUID()
  const [one, two] = [opened({ prefix, commandTimeout: '30s' }), opened({ prefix, commandTimeout: '30s' })]
  await one.events.open('a', 's', 'node', ROOM)
  let news = 0
  one.events.watch('a', 's', () => void news++)
  const subscribed = async (): Promise<string> => server.send('PUBSUB', 'CHANNELS', `${prefix}*`)
  await expect.poll(subscribed).toContain(prefix)
  await expect.poll(() => news).toBeGreaterThan(0)
  const before = news
  await server.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await expect.poll(subscribed).toContain(prefix)
  await expect.poll(() => news).toBeGreaterThan(before)
  const after = news
  await two.events.append('a', 's', { text: 'c' }, ROOM)
  await expect.poll(() => news).toBeGreaterThan(after)
})

test('messages that the server lost are a gap, even if others have their positions now', async () => {
  const prefix = crypto.randomUUID()
  const [one, two] = [opened({ prefix, commandTimeout: '30s' }), opened({ prefix, commandTimeout: '30s' })]
  const got: unknown[] = []
  for (const text of ['a', 'b', 'c']) await one.changes.publish(text)
  await one.changes.subscribe(
    0,
    ({ text }) => void got.push(text),
    (position) => void got.push(position),
  )
  await one.changes.publish('d')
  await expect.poll(() => got).toEqual(['a', 'b', 'c', 'd'])
  await server.send('DEL', `${prefix}:{bus}:e`, `${prefix}:{bus}:h`)
  for (const text of ['1', '2', '3', '4']) await two.changes.publish(text)
  await server.send('CLIENT', 'KILL', 'TYPE', 'normal')
  await expect.poll(() => got).toContain(4)
  await two.changes.publish('5')
  await expect.poll(() => got).toContain('5')
})

test('one may subscribe while the server is away', async () => {
  const { changes } = opened({ commandTimeout: 100 })
  await server.kill()
  const got: unknown[] = []
  await changes.subscribe(
    0,
    ({ text }) => void got.push(text),
    () => void got.push('gap'),
  )
  await expect(changes.position()).rejects.toMatchObject(UNREACHABLE)
  await server.restart()
  await expect.poll(async () => Promise.resolve(changes.publish('a')).catch(() => 0)).toBeGreaterThan(0)
  await expect.poll(() => got).toContain('a')
})

test('channels and connections are given up when nobody watches any more', async () => {
  const prefix = crypto.randomUUID()
  const { events, changes } = opened({ prefix })
  const clients = async (): Promise<number> =>
    Number(/connected_clients:(\d+)/.exec(await server.send('INFO', 'clients'))?.[1])
  const channels = async (): Promise<string> => server.send('PUBSUB', 'CHANNELS', `${prefix}*`)
  const stops = [events.watch('a', 's', silent), events.watch('a', 's', silent)]
  await expect.poll(channels).toContain(prefix)
  stops[0]?.()
  await events.open('a', 's', 'node', ROOM)
  expect(await channels()).toContain(prefix)
  stops[1]?.()
  await expect.poll(channels).not.toContain(prefix)
  await expect.poll(clients).toBe(3)
  const stop = await changes.subscribe(0, silent, silent)
  await expect.poll(clients).toBe(4)
  stop()
  await expect.poll(clients).toBe(3)
})

test('settings that may lose accepted work are reported once', async () => {
  const risky = await startRedis('--appendfsync', 'everysec', '--maxmemory-policy', 'allkeys-lru')
  onTestFinished(() => risky.close())
  const texts: string[] = []
  const { cache, changes } = opened({ url: risky.url, warn: (text) => void texts.push(text) })
  await cache.get('a')
  await changes.position()
  await expect.poll(() => texts.length).toBe(2)
  await cache.get('a')
  expect(texts.toSorted()).toEqual([
    expect.stringContaining('appendfsync is everysec'),
    expect.stringContaining('maxmemory-policy is allkeys-lru'),
  ])
  const safe: string[] = []
  await opened({ warn: (text) => void safe.push(text) }).cache.get('a')
  await server.send('ACL', 'SETUSER', 'plain', 'on', '>pass', '~*', '&*', '+@all', '-config')
  await opened({
    url: server.url.replace('//', '//plain:pass@'),
    warn: (text) => void safe.push(text),
  }).cache.get('a')
  expect(safe).toEqual([])
})

test.each([
  ['a number', 6379, 'expected an object with options'],
  ['an http URL', 'http://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
  ['a host', '127.0.0.1', 'redis://127.0.0.1:6379'],
  ['a misspelt option', { prefx: 'a' }, 'did you mean "prefix"?'],
  ['a prefix with braces', { prefix: '{a}' }, 'without spaces and braces'],
  ['a client without duplicate', { client: {} }, 'ioredis'],
  ['a timeout without end', { commandTimeout: Infinity }, "from '10ms' to '1h'"],
  ['both', { client: {}, url: 'redis://127.0.0.1' }, 'exclude each other'],
])('%s is an error that says what to pass', (_, given, text) => {
  expect(() => redis(given as string)).toThrow(text)
})
