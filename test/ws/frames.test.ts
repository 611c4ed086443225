import { describe, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { headed, initialize, message } from '../http/messages.ts'
import { tools } from '../http/server.ts'
import { frame, handshake, OPCODE, Raw, type FrameOptions } from './raw.ts'
import { open, start } from './server.ts'

/** The code of the end that a server makes of some bytes; another client is served all the same. */
async function endOf(...bytes: readonly Uint8Array[]): Promise<number | undefined> {
  const { port } = await start(tools())
  const other = await open(port)
  const raw = await open(port)
  raw.write(...bytes)
  const code = await raw.closeCode()
  other.write(frame(message('ping', {}, 7)))
  await other.until(() => other.texts.length > 0)
  expect(other.texts).toEqual(['{"jsonrpc":"2.0","id":7,"result":{}}'])
  return code
}

const PING = message('ping', {}, 1)
const CLOSED = (code: number): Buffer =>
  frame(Buffer.from([code >> 8, code & 0xff]), { opcode: OPCODE.close })

describe('frames that break RFC 6455 end the connection with the code for it', () => {
  const wrong: readonly (readonly [string, string, number, string | Uint8Array, FrameOptions])[] = [
    ['W.unmasked', 'a frame without a mask', 1002, PING, { masked: false }],
    ['W.rsv', 'a reserved bit', 1002, PING, { rsv: 1 }],
    ['W.rsv', 'compression that was not agreed on', 1002, PING, { rsv: 4 }],
    ['W.opcode', 'an unknown kind of frame', 1002, PING, { opcode: 3 }],
    ['W.opcode', 'an unknown control frame', 1002, PING, { opcode: 11 }],
    ['W.utf8', 'text that is not UTF-8', 1007, Buffer.from([0xc3, 0x28]), {}],
    ['W.utf8', 'text with a surrogate', 1007, Buffer.from([0xed, 0xa0, 0x80]), {}],
    ['W.control-long', 'a ping of more than 125 bytes', 1002, Buffer.alloc(126), { opcode: OPCODE.ping }],
    ['W.control-cut', 'a ping in pieces', 1002, 'x', { opcode: OPCODE.ping, fin: false }],
    ['W.continuation', 'a continuation of nothing', 1002, 'x', { opcode: OPCODE.more }],
    ['W.declared-huge', 'an announced terabyte', 1009, 'x', { announced: 2n ** 40n }],
    ['W.length-negative', 'a length with its sign set', 1009, 'x', { announced: 2n ** 63n }],
    ['W.binary', 'a binary frame', 1003, PING, { opcode: OPCODE.binary }],
  ]
  test.each(wrong)('%s: %s gets %d', async (_id, _what, code, payload, options) => {
    expect(await endOf(frame(payload, options))).toBe(code)
  })

  test('W.continuation: a new message inside another gets 1002', async () => {
    expect(await endOf(frame('{', { fin: false }), frame('}'))).toBe(1002)
  })

  test.each([0, 999, 1004, 1005, 1006, 1016, 2999, 65_535])(
    'W.close-code: the code %d gets 1002',
    async (code) => {
      expect(await endOf(CLOSED(code))).toBe(1002)
    },
  )

  test.each([1000, 1001, 1011, 3000, 4999])(
    'W.close-code: the code %d is answered with itself',
    async (code) => {
      expect(await endOf(CLOSED(code))).toBe(code)
    },
  )

  test('W.close-code: half a code gets 1002, and a reason that is not UTF-8 gets 1007', async () => {
    expect(await endOf(frame(Buffer.from([3]), { opcode: OPCODE.close }))).toBe(1002)
    expect(await endOf(frame(Buffer.from([3, 0xe8, 0xff]), { opcode: OPCODE.close }))).toBe(1007)
  })

  test('W.close-code: an end without a code is answered without one', async () => {
    expect(await endOf(frame('', { opcode: OPCODE.close }))).toBeUndefined()
  })
})

describe('what is allowed is understood', () => {
  test('a message in pieces, with a ping between them, is one message', async () => {
    const { port } = await start(tools())
    const raw = await open(port)
    raw.write(
      frame(PING.slice(0, 10), { fin: false }),
      frame('are you there', { opcode: OPCODE.ping }),
      frame(PING.slice(10), { opcode: OPCODE.more }),
    )
    await raw.until(() => raw.frames.length === 2)
    expect(raw.frames.map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [OPCODE.pong, 'are you there'],
      [OPCODE.text, '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ])
  })

  test('UTF-8 that is cut within a letter by frames and by packets arrives whole', async () => {
    const { port } = await start(tools())
    const raw = await open(port)
    const text = headed('tools/call', { name: 'echo', arguments: { text: 'Grüße 🌊' } }, 3).body
    const bytes = Buffer.from(text)
    const at = bytes.indexOf(Buffer.from('🌊')) + 2
    const all = Buffer.concat([
      frame(bytes.subarray(0, at), { fin: false }),
      frame(bytes.subarray(at), { opcode: OPCODE.more }),
    ])
    for (const byte of all) await raw.pour(Buffer.from([byte]))
    await raw.until(() => raw.texts.length === 1)
    expect(raw.texts[0]).toContain('Grüße 🌊')
  })

  test('five hundred messages in one packet are each answered, in order', async () => {
    const { port } = await start(tools())
    const raw = await open(port)
    raw.write(...Array.from({ length: 500 }, (_, id) => frame(message('ping', {}, id))))
    await raw.until(() => raw.texts.length === 500)
    expect(raw.texts.map((text) => (JSON.parse(text) as { id: number }).id)).toEqual([...Array(500).keys()])
  })

  test('an invalid message is answered with an error, and the connection stays open', async () => {
    const { port } = await start(tools())
    const raw = await open(port)
    raw.write(frame('hello'), frame(''), frame('[]'), frame(PING))
    await raw.until(() => raw.texts.length === 4)
    const codes = raw.texts.map((text) => (JSON.parse(text) as { error?: { code: number } }).error?.code)
    expect(codes).toEqual([-32700, -32700, -32600, undefined])
  })

  test('bytes that come with the upgrade itself are read', async () => {
    const { port } = await start(tools())
    const raw = new Raw(port)
    raw.write(handshake(port), frame(initialize()))
    await raw.until(() => raw.texts.length === 1)
    expect(JSON.parse(raw.texts[0] as string)).toMatchObject({ id: 1, result: {} })
  })
})

test('W.resets: two hundred clients that vanish in the middle of something leave nothing behind', async () => {
  const app = tools()
  const { port } = await start(app)
  for (let round = 0; round < 10; round++) {
    const raws = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    for (const [at, raw] of raws.entries()) {
      raw.write(frame(PING).subarray(0, 1 + (at % 12)))
      raw.socket.resetAndDestroy()
    }
  }
  const raw = await open(port)
  raw.write(frame(PING))
  await raw.until(() => raw.texts.length === 1)
  expect(serviceOf(app).load.running).toBe(0)
})
