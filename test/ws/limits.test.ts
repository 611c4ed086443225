import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { headed, message } from '../http/messages.ts'
import { until } from '../hostile/peer.ts'
import { frame, handshake, OPCODE, Raw } from './raw.ts'
import { open, start } from './server.ts'

const MB = 1024 * 1024

function server(limits: Partial<Limits> = {}): App {
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
  return createServer({ name: 'limits', version: '1', log: () => undefined, limits })
    .tool('size', { input: text }, ({ text: said }) => String(said.length))
    .tool('much', {}, () => 'x'.repeat(MB))
    .tool('later', {}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return 'x'.repeat(MB)
    })
    .tool('wide', {}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return '€'.repeat(MB)
    })
}

const call = (name: string, args: Readonly<Record<string, string>> = {}, id = 1): string =>
  headed('tools/call', { name, arguments: args }, id).body
const PING = message('ping', {}, 1)
const memory = (): number => process.memoryUsage().rss

interface Answer {
  readonly id?: number
  readonly error?: { readonly code: number; readonly data?: { readonly refusal?: { readonly name: string } } }
}

const read = (texts: readonly string[]): readonly Answer[] => texts.map((text) => JSON.parse(text) as Answer)

describe('the size of a message [S2-1.6-4] [S2-11.4-5]', () => {
  /** A call whose text has so many bytes. */
  function ofSize(bytes: number): string {
    const empty = call('size', { text: '' })
    return empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`)
  }

  test('is 50 MB by default', () => {
    expect(server().limits.wsBytes).toBe(50 * MB)
  })

  test.each([9_999, 10_000])('a message of %d bytes passes where 10,000 are allowed', async (bytes) => {
    const { port } = await start(server({ wsBytes: 10_000 }))
    const raw = await open(port)
    raw.write(frame(ofSize(bytes)))
    await raw.until(() => raw.texts.length === 1)
    expect(read(raw.texts)).toMatchObject([{ id: 1, result: {} }])
  })

  test('limits.wsBytes one byte more is refused with the refusal, and then with 1009; in pieces, too', async () => {
    const app = server({ wsBytes: 10_000 })
    const { port } = await start(app)
    const text = ofSize(10_001)
    const cut = [frame(text.slice(0, 6000), { fin: false }), frame(text.slice(6000), { opcode: OPCODE.more })]
    for (const bytes of [[frame(text)], cut]) {
      const raw = await open(port)
      raw.write(...bytes)
      expect(await raw.closeCode()).toBe(1009)
      expect(read(raw.texts)).toMatchObject([
        { error: { code: -32600, data: { refusal: { name: 'MESSAGE_TOO_LARGE' } } } },
      ])
      expect(raw.texts[0]).not.toContain('"id"')
    }
    expect(app.counts.get('too_large')).toBe(2)
  })

  test('W.message-64m: what is announced beyond the limit is refused before it comes', async () => {
    const { port } = await start(server())
    const raw = await open(port)
    const before = memory()
    raw.write(frame('', { announced: BigInt(64 * MB) }))
    expect(await raw.closeCode()).toBe(1009)
    const piece = Buffer.alloc(MB)
    for (let sent = 0; sent < 64; sent++) await raw.pour(piece)
    expect(memory() - before).toBeLessThan(48 * MB)
  })

  test('W.message-64m: in frames of 1 MB it is refused as soon as they are too many', async () => {
    const { port } = await start(server({ wsBytes: 8 * MB }))
    const raw = await open(port)
    const piece = Buffer.alloc(MB, 0x20)
    await raw.pour(frame(piece, { fin: false }))
    for (let sent = 1; sent < 64; sent++) await raw.pour(frame(piece, { fin: false, opcode: OPCODE.more }))
    expect(await raw.closeCode()).toBe(1009)
  })

  test('limits.unparsedBytes all connections together may not have too much that is being read', async () => {
    const app = server({ unparsedBytes: 100_000 })
    const { port } = await start(app)
    const raws = await Promise.all([open(port), open(port), open(port)])
    // Those who have more than this wait for each other instead.
    for (const raw of raws) await raw.pour(frame(Buffer.alloc(40_000, 0x20), { fin: false }))
    await until(() => raws.some((raw) => raw.texts.length > 0))
    const refused = raws.find((raw) => raw.texts.length > 0) as Raw
    expect(await refused.closeCode()).toBe(1013)
    expect(read(refused.texts)).toMatchObject([{ error: { code: 1002 } }])
    for (const raw of raws) raw.socket.destroy()
    const raw = await open(port)
    raw.write(frame(PING))
    await raw.until(() => raw.texts.length === 1)
    expect(read(raw.texts)).toMatchObject([{ id: 1, result: {} }])
  })
})

test('W.fragments: two hundred thousand pieces of one byte end with 1008, and memory stays', async () => {
  const { port } = await start(server())
  const raw = await open(port)
  const before = memory()
  await raw.pour(frame('[', { fin: false }))
  const many = Buffer.concat(
    Array.from({ length: 1000 }, () => frame(' ', { fin: false, opcode: OPCODE.more })),
  )
  for (let sent = 0; sent < 200; sent++) await raw.pour(many)
  expect(await raw.closeCode()).toBe(1008)
  expect(memory() - before).toBeLessThan(64 * MB)
})

test('W.deflate: a compressed bomb is not unpacked', async () => {
  const { port } = await start(server())
  const raw = await open(port, { 'sec-websocket-extensions': 'permessage-deflate' })
  raw.write(frame(Buffer.alloc(10_000), { rsv: 4 }))
  expect(await raw.closeCode()).toBe(1002)
})

describe('a client that does not read', () => {
  test('W.ping-flood: makes no answers pile up when it sends pings: only the latest of many is answered', async () => {
    const { port } = await start(server())
    const raw = await open(port)
    raw.socket.pause()
    const before = memory()
    const many = Buffer.concat(
      Array.from({ length: 500 }, () => frame(Buffer.alloc(125), { opcode: OPCODE.ping })),
    )
    for (let sent = 0; sent < 1000; sent++)
      if (!raw.socket.write(many)) await new Promise((resolve) => raw.socket.once('drain', resolve))
    raw.write(frame('last', { opcode: OPCODE.ping }), frame('', { opcode: OPCODE.ping }))
    expect(memory() - before).toBeLessThan(48 * MB)
    raw.socket.resume()
    await raw.until(() => raw.frames.at(-1)?.payload.length === 0)
    expect(raw.frames.at(-2)?.payload.toString()).toBe('last')
    expect(raw.frames.length).toBeLessThan(50_000)
    const other = await open(port)
    other.write(frame(PING))
    await other.until(() => other.texts.length === 1)
  })

  test('is not read, so that what it asked for does not pile up; when it reads, all is answered', async () => {
    const { port } = await start(server())
    const raw = await open(port)
    raw.socket.pause()
    const before = memory()
    const count = 200
    raw.write(...Array.from({ length: count }, (_, id) => frame(call('much', {}, id))))
    const other = await open(port)
    other.write(frame(PING))
    await other.until(() => other.texts.length === 1)
    expect(memory() - before).toBeLessThan(64 * MB)
    let ids = 0
    raw.socket.resume()
    await raw.until(() => {
      ids += raw.frames.splice(0).length
      return ids === count
    })
    expect(ids).toBe(count)
  })

  test('limits.connectionBytes is aborted when more than so many bytes wait for it', async () => {
    const app = server({ connectionBytes: 8 * MB })
    const { port } = await start(app)
    const raw = await open(port)
    raw.socket.pause()
    raw.write(...Array.from({ length: 100 }, (_, id) => frame(call('later', {}, id))))
    await until(() => app.counts.get('slow_reader') === 1)
    raw.socket.resume()
    await raw.closed
    expect(raw.texts.length).toBeLessThan(100)
  })

  test('limits.connectionBytes counts bytes, not characters', async () => {
    const app = server({ connectionBytes: 20 * MB })
    const { port } = await start(app)
    const raw = await open(port)
    raw.socket.pause()
    raw.write(...Array.from({ length: 15 }, (_, id) => frame(call('wide', {}, id))))
    await until(() => app.counts.get('slow_reader') === 1)
    raw.socket.resume()
    await raw.closed
    expect(raw.texts.length).toBeLessThan(15)
  })

  test('limits.bodyMs is aborted when it reads nothing for so long', async () => {
    const app = server({ bodyMs: 200 })
    const { port } = await start(app)
    const raw = await open(port)
    raw.socket.pause()
    raw.write(...Array.from({ length: 100 }, (_, id) => frame(call('much', {}, id))))
    await expect.poll(() => app.counts.get('slow_reader')).toBe(1)
  })
})

describe('keep-alive', () => {
  test('limits.pingMs limits.pongMs a silent client is pinged, and stays if it answers; otherwise it is aborted', async () => {
    const app = server({ pingMs: 100, pongMs: 200 })
    const { port } = await start(app)
    const alive = await open(port)
    const dead = await open(port)
    let answered = 0
    const answering = alive.until(() => {
      for (const one of alive.frames.splice(0)) {
        if (one.opcode !== OPCODE.ping) continue
        answered++
        alive.write(frame(one.payload, { opcode: OPCODE.pong }))
      }
      return answered >= 5
    })
    await dead.closed
    expect(dead.frames.map(({ opcode }) => opcode)).toEqual([OPCODE.ping])
    await answering
    expect(app.counts.get('peer_lost')).toBe(1)
  })

  test('a client that speaks is not asked', async () => {
    const { port } = await start(server({ pingMs: 1500, pongMs: 100 }))
    const raw = await open(port)
    for (let said = 1; said <= 20; said++) {
      raw.write(frame(PING))
      await new Promise((resolve) => setTimeout(resolve, 100))
      await raw.until(() => raw.texts.length === said)
    }
    expect(raw.frames.filter(({ opcode }) => opcode === OPCODE.ping)).toEqual([])
  })

  test('a message that never ends times out, even if data keeps arriving', async () => {
    const app = server({ bodyMs: 200 })
    const { port } = await start(app)
    const raw = await open(port)
    raw.write(frame('[', { fin: false }))
    const timer = setInterval(() => raw.write(frame(' ', { fin: false, opcode: OPCODE.more })), 20)
    await raw.closed
    clearInterval(timer)
    expect(app.counts.get('slow_sender')).toBe(1)
  })
})

test('limits.connections connections beyond the limit are refused with 503; when one ends, there is room', async () => {
  const app = server({ connections: 2 })
  const { port } = await start(app)
  const [first] = await Promise.all([open(port), open(port)])
  const third = new Raw(port)
  expect(await third.ask(handshake(port))).toBe(503)
  expect(third.head).toMatch(/retry-after: 5/i)
  await third.closed
  expect(JSON.parse(third.body)).toMatchObject({ error: { code: 1089 } })
  expect(app.counts.get('too_many_connections')).toBe(1)
  first?.write(frame(Buffer.from([3, 0xe8]), { opcode: OPCODE.close }))
  await first?.closed
  const fourth = new Raw(port)
  expect(await fourth.ask(handshake(port))).toBe(101)
})

test('requests in flight are limited on each connection', async () => {
  const { port } = await start(server({ inFlight: 2 }))
  const raw = await open(port)
  raw.write(...[1, 2, 3].map((id) => frame(call('later', {}, id))))
  await raw.until(() => raw.texts.length === 3)
  const refused = read(raw.texts).filter(({ error }) => error !== undefined)
  expect(refused).toMatchObject([{ id: 3, error: { code: 1060 } }])
})

test('what a client pours in after its end is not counted as being read', async () => {
  const { port } = await start(server({ wsBytes: 1000, unparsedBytes: 4 * MB }))
  const raw = await open(port)
  raw.write(frame('', { announced: 2n ** 40n }))
  expect(await raw.closeCode()).toBe(1009)
  for (let sent = 0; sent < 16; sent++) await raw.pour(Buffer.alloc(MB))
  const other = await open(port)
  other.write(frame(PING))
  await other.until(() => other.texts.length === 1)
  expect(read(other.texts)).toMatchObject([{ id: 1, result: {} }])
})

test.each(['ping', 'pong'] as const)('a %s does not count as an incomplete message', async (kind) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.advanceTimersByTime(1_000_000)
  const app = server({ bodyMs: 10_000, pingMs: 60_000, pongMs: 20_000 })
  const { port } = await start(app)
  const raw = await open(port)
  raw.write(frame('here', { opcode: OPCODE[kind] }), frame('last', { opcode: OPCODE.ping }))
  await raw.until(() => raw.frames.some(({ payload }) => payload.toString() === 'last'))
  vi.advanceTimersByTime(40_000)
  raw.write(frame(PING))
  await raw.until(() => raw.texts.length === 1)
  expect(read(raw.texts)).toMatchObject([{ id: 1 }])
  expect(app.counts.get('slow_sender') ?? 0).toBe(0)
})
