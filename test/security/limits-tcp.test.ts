import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'
import { call, message } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { dial, echo, greet, serve, serveOver, SOCKETS, type Wire } from '../tcp/wire.ts'
import { heldBuffers } from '../harness/memory.ts'

const LATEST = '2026-07-28'

function make(limits: object, gate?: Gate): AnyApp {
  return createServer({ name: 'limited', version: '1', limits, log: () => undefined })
    .tool('echo', { input: { type: 'object' } }, (input) => String((input as { text?: unknown }).text))
    .tool('large', { input: { type: 'object' } }, (input) =>
      'x'.repeat(Number((input as { size?: unknown }).size)),
    )
    .tool('wait', {}, async () => {
      await gate?.opened
      return 'waited'
    }) as AnyApp
}

/** A line of exactly so many bytes. */
function sized(bytes: number, id = 1): string {
  const text = echo(LATEST, id, '')
  return text.replace('"text":""', `"text":"${'x'.repeat(bytes - Buffer.byteLength(text))}"`)
}

async function address(app: AnyApp): Promise<string> {
  return (await serve(app)).addresses.tcp as string
}

test.each(SOCKETS)(
  'limits.tcpBytes a line over %s is refused from one byte more on, with CRLF too, and the next one is served [S2-1.6-2] [S2-11.4-5]',
  async (kind) => {
    const app = make({ tcpBytes: 3000 })
    const wire = await dial(await serveOver(kind, app))
    for (const end of ['\n', '\r\n']) {
      wire.said = ''
      await wire.write(sized(2999, 1), end, sized(3000, 2), end, sized(3001, 3), end, echo(LATEST, 4), end)
      const replies = await wire.heard(4)
      expect(replies.map(({ id }) => id)).toEqual([1, 2, 3, 4])
      expect(replies[2]?.error).toMatchObject({
        code: -32600,
        message: 'the message is larger than 3000 bytes',
        data: { refusal: { code: 1068 } },
      })
    }
    expect(app.counts.get('too_large')).toBe(2)
  },
)

test('limits.tcpBytes the usual limit is 100 MiB [S2-1.6-2]', async () => {
  expect(make({}).limits.tcpBytes).toBe(104_857_600)
})

test('limits.tcpBytes L.line-64m a line that goes on and on is refused while it is read, and never held', async () => {
  const app = make({ tcpBytes: 1_048_576 })
  const wire = await greet(await dial(await address(app)))
  const before = heldBuffers()
  const megabyte = Buffer.alloc(1_048_576, 'x')
  let most = 0
  for (let sent = 0; sent < 64; sent++) {
    await wire.write(megabyte)
    most = Math.max(most, heldBuffers() - before)
  }
  // The refusal does not wait for the end of the line.
  expect((await wire.heard(1))[0]?.error?.data?.refusal?.code).toBe(1068)
  await wire.write('\n', `${echo(LATEST, 5)}\n`)
  expect(await wire.heard(2)).toMatchObject([{ error: { code: -32600 } }, { id: 5, result: {} }])
  expect(most).toBeLessThan(16_000_000)
})

test('limits.unparsedBytes lines that are read at once on all connections together are refused from one byte more on', async () => {
  const app = make({ unparsedBytes: 10_000 })
  const at = await address(app)
  const first = await dial(at)
  await first.write(sized(6000).slice(0, 5000))
  await expect.poll(() => first.socket.bytesWritten).toBe(5000)
  const second = await dial(at)
  // Once this is answered, what came before it is held.
  await second.write(`${echo(LATEST, 1)}\n`, sized(6000, 2).slice(0, 5000))
  await second.heard(1)
  expect(app.counts.get('too_many_bytes')).toBeUndefined()
  const third = await dial(at)
  await third.write(`${echo(LATEST, 1)}\n`, 'x')
  await expect.poll(() => app.counts.get('too_many_bytes') ?? 0).toBe(1)
  expect((await third.heard(2)).map(({ error }) => error?.data?.refusal?.code)).toEqual([undefined, 1002])
  // What is read already is finished, and frees its bytes for others.
  await first.write(`${sized(6000).slice(5000)}\n`)
  expect(await first.heard(1)).toMatchObject([{ id: 1, result: {} }])
  await third.write('the rest of it\n', `${sized(4000, 3)}\n`)
  expect((await third.heard(3)).at(-1)).toMatchObject({ id: 3, result: {} })
  second.socket.destroy()
})

test('limits.connections one connection too many gets an error and is closed, and closing another makes room', async () => {
  const app = make({ connections: 3 })
  const at = await address(app)
  const held: Wire[] = []
  for (let count = 1; count <= 3; count++) held.push(await greet(await dial(at)))
  const refused = await dial(at)
  await refused.write(`${echo(LATEST, 1)}\n`)
  expect((await refused.heard(1))[0]).toMatchObject({
    error: {
      code: 1089,
      message: 'the server already has 3 connections open',
      data: { refusal: { code: 1089 } },
    },
  })
  await refused.ended()
  expect(app.counts.get('too_many_connections')).toBe(1)
  refused.socket.destroy()
  held.pop()?.socket.destroy()
  await expect
    .poll(async () => {
      const wire = await dial(at)
      await wire.write(`${echo(LATEST, 7)}\n`)
      const [reply] = await wire.heard(1)
      wire.socket.destroy()
      return reply?.id
    })
    .toBe(7)
})

test('limits.connections a flood beyond the limit is dropped, and those inside are served', async () => {
  const app = make({ connections: 5 })
  const at = await address(app)
  const inside = await greet(await dial(at))
  const flood = await Promise.allSettled(Array.from({ length: 200 }, () => dial(at)))
  await inside.write(`${echo('2025-11-25', 5)}\n`)
  expect(await inside.heard(1)).toMatchObject([{ id: 5, result: {} }])
  await expect.poll(() => app.counts.get('too_many_connections') ?? 0).toBeGreaterThanOrEqual(190)
  for (const one of flood) if (one.status === 'fulfilled') one.value.socket.destroy()
})

test('limits.idleMs limits.sessionIdleMs a connection that is not used ends, one that waits for an answer does not', async () => {
  const strict = make({ idleMs: 100, sessionIdleMs: 600_000 }, new Gate())
  const silent = await dial(await address(strict))
  await silent.ended()
  expect(strict.counts.get('session_expired')).toBe(1)
  const gate = new Gate()
  const app = make({ idleMs: 600_000, sessionIdleMs: 1000 }, gate)
  const at = await address(app)
  const waiting = await greet(await dial(at))
  await waiting.write(`${call('wait', {}, 5)}\n`)
  const used = await greet(await dial(at))
  await used.ended()
  gate.open()
  expect(await waiting.heard(1)).toMatchObject([{ id: 5, result: {} }])
  expect(app.counts.get('session_expired')).toBe(1)
})

test('limits.bodyMs a message that does not get on is refused, and the connection closed; slow messages in time are not', async () => {
  const app = make({ bodyMs: 1500 })
  const at = await address(app)
  const dripping = await greet(await dial(at))
  const honest = await greet(await dial(at))
  const line = `${echo('2025-11-25', 5, 'x'.repeat(20))}\n`
  const drip = setInterval(() => dripping.socket.write('x'), 20)
  for (let count = 0; count < 4; count++) {
    for (const half of [line.slice(0, 30), line.slice(30)]) {
      await honest.write(half)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  expect((await dripping.heard(1))[0]?.error?.data?.refusal?.code).toBe(1069)
  await dripping.ended()
  clearInterval(drip)
  expect(await honest.heard(4)).toHaveLength(4)
  expect(app.counts.get('slow_sender')).toBe(1)
})

test('limits.connectionBytes a client that does not read is no longer read from, and aborted when too much waits for it [S2-10.3-6]', async () => {
  const gate = new Gate()
  const app = make({ connectionBytes: 20_000_000, inFlight: 100 }, gate)
  app.tool('late', {}, async () => {
    await gate.opened
    return 'x'.repeat(1_000_000)
  })
  const at = await address(app)
  const lazy = await greet(await dial(at))
  lazy.socket.pause()
  await lazy.write(Array.from({ length: 60 }, (_, id) => `${call('late', {}, 10 + id)}\n`).join(''))
  await expect.poll(() => serviceOf(app).load.running).toBe(60)
  gate.open()
  await expect.poll(() => app.counts.get('slow_reader') ?? 0).toBe(1)
  lazy.socket.resume()
  await lazy.ended()
})

test('limits.connectionBytes counts bytes, not characters', async () => {
  const gate = new Gate()
  const app = make({ connectionBytes: 20_000_000, inFlight: 100 }, gate)
  app.tool('late', {}, async () => {
    await gate.opened
    return '€'.repeat(1_000_000)
  })
  const lazy = await greet(await dial(await address(app)))
  lazy.socket.pause()
  await lazy.write(Array.from({ length: 15 }, (_, id) => `${call('late', {}, 10 + id)}\n`).join(''))
  await expect.poll(() => serviceOf(app).load.running).toBe(15)
  gate.open()
  await expect.poll(() => app.counts.get('slow_reader') ?? 0).toBe(1)
  lazy.socket.resume()
  await lazy.ended()
})

test('limits.connectionBytes a client that reads gets more than that, however much of it at once', async () => {
  const gate = new Gate()
  const app = make({ connectionBytes: 20_000_000 }, gate)
  app.tool('late', {}, async () => {
    await gate.opened
    return 'x'.repeat(1_000_000)
  })
  const wire = await greet(await dial(await address(app)))
  await wire.write(Array.from({ length: 15 }, (_, id) => `${call('late', {}, 10 + id)}\n`).join(''))
  await expect.poll(() => serviceOf(app).load.running).toBe(15)
  gate.open()
  expect(await wire.heard(15)).toHaveLength(15)
  await wire.write(`${call('large', { size: 30_000_000 }, 5)}\n`)
  expect(await wire.heard(16)).toHaveLength(16)
  expect(app.counts.get('slow_reader')).toBeUndefined()
})

test('L.unread limits.bodyMs over tcp requests whose answers nobody reads are not read, and the client is aborted after a while [S2-10.3-6]', async () => {
  const app = make({ bodyMs: 500 })
  let ran = 0
  app.tool('counted', { input: { type: 'object' } }, () => {
    ran++
    return 'x'.repeat(100_000)
  })
  const lazy = await greet(await dial(await address(app)))
  lazy.socket.pause()
  const before = process.memoryUsage().rss
  const line = `${call('counted', { pad: 'y'.repeat(10_000) }, 5)}\n`
  for (let count = 0; count < 2000; count++) lazy.socket.write(line)
  await expect.poll(() => app.counts.get('slow_reader') ?? 0).toBe(1)
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  // What was read before the answers stopped flowing; the rest never came in.
  expect(ran).toBeLessThan(200)
})

test('limits.drainMs what does not end in time is cancelled when the server closes', async () => {
  const app = make({ drainMs: 100 }, new Gate())
  const running = await app.listen({ tcp: { port: 0 } })
  const wire = await greet(await dial(running.addresses.tcp))
  await wire.write(`${call('wait', {}, 5)}\n`)
  await expect.poll(() => serviceOf(app).load.running).toBe(1)
  wire.socket.once('end', () => wire.socket.end())
  await running.close()
  expect(wire.said).toBe('')
})

test('limits.inFlight 1,100 requests at once: those beyond the limit are rejected, and every one gets an answer', async () => {
  const gate = new Gate()
  const app = make({ inFlight: 1000 }, gate)
  const wire = await greet(await dial(await address(app)))
  await wire.write(Array.from({ length: 1100 }, (_, id) => `${call('wait', {}, 10 + id)}\n`).join(''))
  await wire.heard(100)
  gate.open()
  await wire.write(`${message('ping', {}, 5)}\n`)
  const replies = await wire.heard(1101)
  expect(new Set(replies.map(({ id }) => id)).size).toBe(1101)
  expect(replies.filter(({ error }) => error !== undefined)).toHaveLength(100)
})
