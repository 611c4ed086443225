import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testSocket } from '../harness/sockets.ts'
import { until } from '../hostile/peer.ts'
import { headed } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { after, dial, serve, type Reply, type Wire } from './wire.ts'

const framing = 'length-prefix'

function make(limits: object = {}, gate = new Gate()): AnyApp {
  return createServer({ name: 'framed', version: '1', limits, log: () => undefined })
    .tool('echo', { input: { type: 'object' } }, (input) => String((input as { text?: unknown }).text))
    .tool('wait', {}, async () => {
      await gate.opened
      return 'waited'
    }) as AnyApp
}

function frame(text: string): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(Buffer.byteLength(text))
  return Buffer.concat([head, Buffer.from(text)])
}

/** The messages in the bytes that came, once there are so many; empty ones are left out. */
async function heard(chunks: readonly Buffer[], count: number): Promise<readonly Reply[]> {
  let replies: Reply[] = []
  await until(() => {
    const bytes = Buffer.concat(chunks)
    replies = []
    for (let at = 0; at + 4 <= bytes.length;) {
      const size = bytes.readUInt32BE(at)
      if (size > 0 && at + 4 + size <= bytes.length)
        replies.push(JSON.parse(bytes.toString('utf8', at + 4, at + 4 + size)) as Reply)
      at += 4 + size
    }
    return replies.length >= count
  }, 5000)
  return replies
}

async function open(
  address: string | undefined,
): Promise<{ readonly wire: Wire; readonly chunks: Buffer[] }> {
  const wire = await dial(address)
  const chunks: Buffer[] = []
  wire.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { wire, chunks }
}

function echo(id: number, text: string): string {
  return headed('tools/call', { name: 'echo', arguments: { text } }, id).body
}

test.each(REVISIONS)(
  'messages are length-prefixed at %s when both sides are configured so [S2-10.3-2]',
  async (revision) => {
    const { addresses } = await serve(make(), {
      tcp: { port: 0, framing },
      unix: { path: testSocket(), framing },
    })
    for (const address of [addresses.tcp, addresses.unix]) {
      const client = await connect(address as string, { revision, framing, heartbeat: 250 })
      after(() => client.close())
      const texts = ['', 'a\nb', 'grüße 🚢', '\u2028', 'x'.repeat(300_000)]
      expect(await Promise.all(texts.map((text) => client.call('echo', { text })))).toEqual(texts)
    }
  },
)

test('the length is four bytes, big-endian, however the bytes are split', async () => {
  const { addresses } = await serve(make(), { tcp: { port: 0, framing } })
  const { wire, chunks } = await open(addresses.tcp)
  const bytes = Buffer.concat([frame(echo(1, 'ä')), frame(''), frame(echo(2, 'b\n'))])
  for (const byte of bytes) await wire.write(Uint8Array.of(byte))
  expect(await heard(chunks, 2)).toMatchObject([
    { id: 1, result: { content: [{ text: 'ä' }] } },
    { id: 2, result: { content: [{ text: 'b\n' }] } },
  ])
})

test('limits.tcpBytes holds for them too, and is known before the message comes', async () => {
  const { addresses } = await serve(make({ tcpBytes: 1000 }), { tcp: { port: 0, framing } })
  const { wire, chunks } = await open(addresses.tcp)
  const sized = (bytes: number, id: number): string => {
    const text = echo(id, '')
    return text.replace('"text":""', `"text":"${'x'.repeat(bytes - text.length)}"`)
  }
  await wire.write(frame(sized(999, 1)), frame(sized(1000, 2)), frame(sized(1001, 3)).subarray(0, 4))
  const replies = await heard(chunks, 3)
  expect(replies.map(({ id }) => id)).toEqual([1, 2, undefined])
  expect(replies[2]?.error?.data?.refusal?.code).toBe(1068)
  await wire.write(frame(sized(1001, 3)).subarray(4), frame(echo(4, 'next')))
  expect((await heard(chunks, 4))[3]).toMatchObject({ id: 4, result: {} })
})

test('a client that half-closes still gets its responses, plus only empty frames', async () => {
  const gate = new Gate()
  const app = make({}, gate)
  const { addresses } = await serve(app, { tcp: { port: 0, framing } })
  const { wire, chunks } = await open(addresses.tcp)
  await wire.write(frame(headed('tools/call', { name: 'wait' }, 5).body))
  wire.socket.end()
  await expect.poll(() => serviceOf(app).load.running).toBe(1)
  gate.open()
  expect(await heard(chunks, 1)).toMatchObject([{ id: 5, result: {} }])
})

test('a client that sends lines instead is rejected, and any other framing is an invalid option', async () => {
  const { addresses } = await serve(make(), { tcp: { port: 0, framing } })
  const { wire, chunks } = await open(addresses.tcp)
  await wire.write(`${echo(1, 'x')}\n`)
  expect((await heard(chunks, 1))[0]?.error?.data?.refusal?.code).toBe(1066)
  const odd = { port: 0, framing: 'packets' } as never
  await expect(make().listen({ tcp: odd })).rejects.toThrow(
    `framing must be 'lines' or 'length-prefix', not "packets"`,
  )
  await expect(connect(addresses.tcp as string, { framing: 'x' as never })).rejects.toThrow(
    `framing must be 'lines'`,
  )
})
