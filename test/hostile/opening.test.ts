import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { heldHeap } from '../harness/memory.ts'
import { after, EARLIER, endOf, listen, serve } from './peer.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** A binary frame, which a server of this protocol may not send. */
const FRAME = Buffer.from([0x82, 0x01, 0x41])

/** A WebSocket server that sends a frame in the same segment as its reply to the upgrade. */
async function hasty(onConnection: () => void): Promise<string> {
  const server = createServer((socket) => {
    onConnection()
    socket.once('data', (head) => {
      const [, key = ''] = /sec-websocket-key: (.*)\r\n/i.exec(head.toString('latin1')) ?? []
      const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64')
      const reply = [
        'HTTP/1.1 101 Switching Protocols',
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Accept: ${accept}`,
        'Sec-WebSocket-Protocol: mcp',
      ]
      socket.write(Buffer.concat([Buffer.from(`${reply.join('\r\n')}\r\n\r\n`), FRAME]))
      socket.on('data', () => socket.destroy())
    })
  })
  return `ws://127.0.0.1:${await listen(server)}/mcp`
}

test.each([undefined, EARLIER, '2026-07-28'] as const)(
  'a connection that fails as soon as it opens is not opened again and again, with the revision %s',
  async (revision) => {
    let connections = 0
    const many = new Promise<string>((resolve) => {
      void hasty(() => ++connections === 20 && resolve('opened again and again')).then(async (url) =>
        resolve(await endOf(connect(url, { revision, timeout: '30s' }))),
      )
    })
    expect(await many).toBe('bad_answer')
    expect(connections).toBeLessThanOrEqual(revision === undefined ? 2 : 1)
  },
)

test('C.server-requests questions that arrive while a connection opens take memory up to a limit, with the names of their methods', async () => {
  const before = heldHeap()
  let held = 0
  const target = await serve('memory', ({ id, method }, wire) => {
    if (method === 'server/discover')
      return wire.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } })
    if (method !== 'initialize') return undefined
    for (let at = 0; at < 40; at++)
      wire.send(`{"jsonrpc":"2.0","id":"q${at}","method":"${at}${'x'.repeat(4_000_000)}"}`)
    setTimeout(() => {
      held = heldHeap() - before
      wire.reply({ protocolVersion: EARLIER, capabilities: {}, serverInfo: { name: 'x', version: '1' } })
    }, 100)
    return undefined
  })
  const client = await connect(target, { timeout: '30s' })
  after(() => client.close())
  expect(held).toBeGreaterThan(0)
  expect(held).toBeLessThan(100_000_000)
})
