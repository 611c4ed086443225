import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { AnyApp } from '../harness/connection.ts'
import { call } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { dial, echo, greet, serve, serveOver, SOCKETS } from './wire.ts'

function make(gate: Gate, limits: Partial<Limits> = {}): AnyApp {
  return createServer({ name: 'ending', version: '1', log: () => undefined, limits })
    .tool('echo', { input: { type: 'object' } }, () => 'echo')
    .tool('wait', {}, async (_, { signal }) => {
      signal.addEventListener('abort', () => gate.open())
      await gate.opened
      return 'waited'
    }) as AnyApp
}

test.each(SOCKETS)(
  'L.eof-busy L.eof-mid L.half-close over %s a client that ended its side still gets its responses, even to a last line without a line break [S2-10.3-1]',
  async (kind) => {
    const gate = new Gate()
    const app = make(gate)
    const wire = await greet(await dial(await serveOver(kind, app)))
    await wire.write(`${call('wait', {}, 5)}\n`, echo('2025-11-25', 6))
    wire.socket.end()
    expect(await wire.heard(1)).toMatchObject([{ id: 6 }])
    await expect.poll(() => serviceOf(app).load.running).toBe(1)
    gate.open()
    const replies = await wire.heard(2)
    expect(replies[1]).toMatchObject({ id: 5, result: { content: [{ text: 'waited' }] } })
    await wire.ended()
  },
)

test.each(SOCKETS)(
  'L.eof over %s a client that ends its side with nothing pending, before its first message or after, is disconnected',
  async (kind) => {
    const address = await serveOver(kind, make(new Gate()))
    for (const wire of [await dial(address), await greet(await dial(address))]) {
      wire.socket.end()
      await wire.ended()
      expect(wire.said).toBe('')
    }
  },
)

test.each(SOCKETS)('over %s the requests of a disconnected client are cancelled soon', async (kind) => {
  const gate = new Gate()
  const app = make(gate)
  const wire = await greet(await dial(await serveOver(kind, app)))
  await wire.write(`${call('wait', {}, 5)}\n`)
  await expect.poll(() => serviceOf(app).load.running).toBe(1)
  wire.socket.destroy()
  await expect.poll(() => serviceOf(app).load.running).toBe(0)
})

test.each(SOCKETS)(
  'over %s a question to a client that ended its side fails, without an error in the log',
  async (kind) => {
    const gate = new Gate()
    const logged: string[] = []
    const app = createServer({
      name: 'asking',
      version: '1',
      log: (level, line) => void logged.push(`${level} ${line}`),
    })
      .tool('roots', {}, async (_, { roots }) => JSON.stringify(await roots()))
      .tool('later', {}, async (_, { roots }) => {
        await gate.opened
        return JSON.stringify(await roots())
      })
    const wire = await dial(await serveOver(kind, app as AnyApp))
    const clientInfo = { name: 'x', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo }
    await wire.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    await wire.heard(1)
    wire.socket.end(`${call('roots', {}, 2)}\n${call('later', {}, 3)}\n`)
    await expect.poll(() => wire.said).toContain('"id":2')
    gate.open()
    await wire.ended()
    const replies = (await wire.heard(3)).filter(({ id, result }) => result !== undefined && id !== 1)
    expect(replies).toMatchObject([2, 3].map((id) => ({ id, result: { isError: true } })))
    expect(wire.said).toContain('it has ended its side of the connection')
    expect(logged).toEqual([])
  },
)

test('a closing server answers running requests, rejects new ones, and accepts no more connections', async () => {
  const gate = new Gate()
  const app = make(gate)
  const running = await app.listen({ tcp: { port: 0 } })
  const wire = await greet(await dial(running.addresses.tcp))
  await wire.write(`${call('wait', {}, 5)}\n`)
  await expect.poll(() => serviceOf(app).load.running).toBe(1)
  const closing = running.close()
  await wire.write(`${echo('2025-11-25', 6)}\n`)
  expect(await wire.heard(1)).toMatchObject([{ id: 6, error: { code: 1077 } }])
  await expect(dial(running.addresses.tcp)).rejects.toThrow('ECONNREFUSED')
  gate.open()
  expect((await wire.heard(2))[1]).toMatchObject({ id: 5, result: {} })
  await wire.ended()
  wire.socket.end()
  await closing
  await running.closed
})

test('responses in transit when the server closes arrive, though the client keeps sending', async () => {
  const app = make(new Gate())
  let answered = 0
  app.tool('large', {}, () => (answered++, 'x'.repeat(3_000_000)))
  const running = await app.listen({ tcp: { port: 0 } })
  const wire = await greet(await dial(running.addresses.tcp))
  wire.socket.pause()
  await wire.write(`${call('large', {}, 5)}\n`, `${call('large', {}, 6)}\n`)
  await expect.poll(() => answered).toBe(2)
  const closing = running.close()
  wire.socket.write(`${echo('2025-11-25', 7)}\n`)
  wire.socket.resume()
  const replies = await wire.heard(1)
  expect(replies[0]?.id).toBe(5)
  await wire.ended()
  wire.socket.end()
  await closing
})

test('a server with an idle client closes without waiting for drainMs', async () => {
  const running = await serve(make(new Gate(), { drainMs: 600_000 }))
  const wire = await greet(await dial(running.addresses.tcp))
  const closing = running.close()
  await wire.ended()
  wire.socket.end()
  await closing
  await expect(dial(running.addresses.tcp)).rejects.toThrow('ECONNREFUSED')
})
