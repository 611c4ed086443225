import { expect, test } from 'vitest'
import { KeptBuffer, KeptPool } from './kept-pool.ts'

class Client {
  forgotten = 0
  readonly buffer: KeptBuffer

  constructor(pool: KeptPool, caller: unknown = this) {
    this.buffer = new KeptBuffer({ pool, caller, forget: () => void this.forgotten++ })
  }
}

function createClients(pool: KeptPool, count: number, caller?: unknown): Client[] {
  return Array.from({ length: count }, () => new Client(pool, caller))
}

test('beyond the limit, the caller with the most gives up, whoever needs the room', () => {
  const pool = new KeptPool({ unsentBytes: 1000 })
  const [small, large, ...others] = createClients(pool, 6) as [Client, Client, ...Client[]]
  small.buffer.set(20)
  large.buffer.set(250)
  for (const { buffer } of others) buffer.set(120)
  expect([pool.bytes, large.forgotten]).toEqual([750, 0])
  for (const { buffer } of others) buffer.set(190)
  expect([pool.bytes, large.forgotten, small.forgotten]).toEqual([780, 1, 0])
})

test('one caller keeps at most a quarter, over all its buffers, and first gives up what nobody reads', () => {
  const pool = new KeptPool({ unsentBytes: 1000 })
  const [read, unread, ended] = createClients(pool, 3, 'ann') as [Client, Client, Client]
  read.buffer.isRead = true
  read.buffer.set(150)
  unread.buffer.set(60)
  ended.buffer.set(40)
  expect(pool.bytes).toBe(250)
  read.buffer.set(151)
  expect([read.forgotten, unread.forgotten, ended.forgotten]).toEqual([0, 1, 0])
  unread.buffer.set(50)
  read.buffer.isRead = false
  unread.buffer.isRead = true
  unread.buffer.set(100)
  expect([read.forgotten, unread.forgotten, ended.forgotten, pool.bytes]).toEqual([1, 1, 0, 140])
})

test('a buffer that is too large by itself is given up at once', () => {
  const pool = new KeptPool({ unsentBytes: 1000 })
  const { buffer } = new Client(pool)
  buffer.set(251)
  expect([buffer.bytes, pool.bytes]).toEqual([0, 0])
})

test('a buffer that has ended is not counted any more', () => {
  const pool = new KeptPool({ unsentBytes: 1000 })
  const { buffer } = new Client(pool)
  buffer.set(100)
  buffer.end()
  buffer.set(200)
  expect(pool.bytes).toBe(0)
})

test('finding what to give up does not take longer because there are more callers', () => {
  const looks = [100, 10_000].map((count) => {
    const pool = new KeptPool({ unsentBytes: count * 100 })
    const clients = createClients(pool, count)
    for (const { buffer } of clients) buffer.set(100)
    let looked = 0
    for (const { buffer } of clients) {
      let bytes = buffer.bytes
      Object.defineProperty(buffer, 'bytes', {
        get: () => {
          looked++
          return bytes
        },
        set(changed: number) {
          bytes = changed
        },
      })
    }
    clients.at(-1)?.buffer.set(150)
    expect([pool.bytes < count * 100, clients.filter(({ forgotten }) => forgotten > 0).length]).toEqual([
      true,
      1,
    ])
    return looked
  })
  expect(looks[1]).toBe(looks[0])
})

test('what clients keep and give up in any order adds up', () => {
  const pool = new KeptPool({ unsentBytes: 5000 })
  const clients = ['ann', 'bob', 'eve', 'joe', 'kim', 'lee', 'max'].flatMap((caller) =>
    createClients(pool, 5, caller),
  )
  let seed = 1
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let step = 0; step < 20_000; step++) {
    const { buffer } = clients[random(clients.length)] as Client
    if (random(4) === 0) buffer.isRead = random(2) === 0
    else buffer.set(random(3) === 0 ? 0 : random(1500))
    const sum = clients.reduce((bytes, client) => bytes + client.buffer.bytes, 0)
    expect([pool.bytes, sum <= 5000]).toEqual([sum, true])
  }
})
