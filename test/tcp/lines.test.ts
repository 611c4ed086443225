import { expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { target } from '../security/target.ts'
import { dial, echo, greet, serve, serveOver, SOCKETS, type Wire } from './wire.ts'

test.each(SOCKETS)(
  'over %s a client that does not speak MCP is rejected and disconnected, and does not affect others',
  async (kind) => {
    const address = await serveOver(kind, target().app)
    const bystander = await greet(await dial(address))
    for (const text of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\u0016\u0003\u0001\u0002\n', 'SSH-2.0-x\r\n']) {
      const stranger = await dial(address)
      await stranger.write(text)
      await stranger.ended()
      expect(await stranger.heard(1)).toMatchObject([{ error: { code: -32700 } }])
      stranger.socket.destroy()
    }
    await bystander.write(`${echo('2025-11-25', 5)}\n`)
    expect(await bystander.heard(1)).toMatchObject([{ id: 5, result: {} }])
  },
)

test('M.cross-talk sixteen clients with equal ids each get their own responses [S2-10.3-3]', async () => {
  const address = await serveOver('tcp', target().app)
  const wires = await Promise.all(Array.from({ length: 16 }, async () => greet(await dial(address))))
  await Promise.all(
    wires.map(async (wire, at) => {
      await wire.write(
        Array.from({ length: 50 }, (_, id) => `${echo('2025-11-25', id, `${at}/${id}`)}\n`).join(''),
      )
      const replies = await wire.heard(50)
      expect(new Set(replies.map(({ id }) => id)).size).toBe(50)
      for (const { id, result } of replies)
        expect(result?.['content']).toEqual([{ type: 'text', text: `${at}/${String(id)}` }])
    }),
  )
})

test('200 clients that vanish in the middle of a message leave nothing behind [S2-10.3-3]', async () => {
  const { app } = target()
  const address = await serveOver('tcp', app)
  for (let round = 0; round < 10; round++) {
    const wires = await Promise.all(Array.from({ length: 20 }, () => dial(address)))
    await Promise.all(wires.map((wire) => wire.write(echo('2026-07-28', 1).slice(0, 50))))
    for (const wire of wires) wire.socket.resetAndDestroy()
  }
  const wire = await dial(address)
  await wire.write(`${echo('2026-07-28', 5)}\n`)
  expect(await wire.heard(1)).toMatchObject([{ id: 5, result: {} }])
  expect(serviceOf(app).load.running).toBe(0)
})

test('limits.unparsedBytes a client that exceeds the read budget gets an error, and is still served', async () => {
  const app = createServer({
    name: 'small',
    version: '1',
    limits: { unparsedBytes: 100_000 },
    log: () => undefined,
  })
  const address = (await serve(app as AnyApp)).addresses.tcp
  const wires = await Promise.all([dial(address), dial(address), dial(address)])
  // Those who have more than this wait for each other instead.
  for (const wire of wires) await wire.write(`"${'x'.repeat(40_000)}`)
  await until(() => wires.some(({ said }) => said !== ''))
  const refused = wires.find(({ said }) => said !== '') as Wire
  expect(await refused.heard(1)).toMatchObject([{ error: { code: 1002 } }])
  await refused.write('"\n', '{"jsonrpc":"2.0","id":8,"method":"ping"}\n')
  await until(() => refused.said.includes('"id":8'))
})
