import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { AnyApp } from '../harness/connection.ts'
import { testSocket } from '../harness/sockets.ts'
import { message } from '../http/messages.ts'
import { target, type Target } from '../security/target.ts'
import { dial, echo, greet, serve, serveOver, SOCKETS, type Wire } from './wire.ts'

const LATEST = '2026-07-28'
const CALL = echo(LATEST, 7)
const PING = message('ping', {}, 5)

/** The request of a web page on another origin: a text body needs no permission. */
const PAGE_REQUEST = [
  'POST / HTTP/1.1',
  'Host: 127.0.0.1:6000',
  'Origin: http://elsewhere.example',
  'Content-Type: text/plain;charset=UTF-8',
  '',
  CALL,
  '',
].join('\r\n')

const FOREIGN: readonly (readonly [string, string | Buffer, number])[] = [
  ['L.http a request of a web page', PAGE_REQUEST, -32700],
  ['a line that is not JSON', 'SSH-2.0-x\r\n', -32700],
  ['L.framing a header of another protocol', `Content-Length: ${CALL.length}\r\n\r\n`, -32700],
  ['L.raw-newline half a message', `${CALL.slice(0, 20)}\n`, -32700],
  ['L.two two messages on a line', `${CALL} ${CALL}\n`, -32700],
  ['L.nul noise', '\u0010\0\0\u0001\u0002\n', -32700],
  ['M.utf8-bad a line that is not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), -32700],
  ['L.scalar a value that is not a message', '42\n', -32600],
  ['L.batch a batch where there is none', `[${PING}]\n`, -32600],
  ['an object that is not a message', '{"jsonrpc":"2.0"}\n', -32600],
  ['L.line-64m a line beyond the limit', `"${'x'.repeat(3000)}"\n`, -32600],
]

/** Sends more on a connection that the server has closed, and ends it with an incomplete line. */
async function insist(wire: Wire): Promise<void> {
  await wire.ended()
  await wire.write(`${CALL}\n${CALL}`)
  wire.socket.end()
  if (!wire.socket.closed) await once(wire.socket, 'close')
}

/** Another client is served; apart from that, tools have run only so many times. */
async function expectRuns(attacked: Target, address: string, runs: number): Promise<void> {
  const bystander = await dial(address)
  await bystander.write(`${CALL}\n`)
  expect(await bystander.heard(1)).toMatchObject([{ id: 7, result: {} }])
  expect(attacked.ran).toBe(runs + 1)
}

test.each(SOCKETS.flatMap((kind) => FOREIGN.map((one) => [kind, ...one] as const)))(
  'over %s, before the first message, %s gets one error and ends the connection, and nothing after it runs [R068]',
  async (kind, _, bytes, code) => {
    const attacked = target({ tcpBytes: 2000 })
    const address = await serveOver(kind, attacked.app)
    const wire = await dial(address)
    await wire.write('\r\n \n', Buffer.concat([Buffer.from(bytes), Buffer.from(`${CALL}\n${CALL}`)]))
    await insist(wire)
    const replies = await wire.heard(1)
    expect(replies).toMatchObject([{ error: { code } }])
    await expectRuns(attacked, address, 0)
  },
)

test.each(SOCKETS)(
  'over %s, after the first message, a bad line gets an error and the next one is served [R068] [R009]',
  async (kind) => {
    const attacked = target({ tcpBytes: 2000 })
    const wire = await dial(await serveOver(kind, attacked.app))
    await wire.write(`${PING}\n`)
    await wire.heard(1)
    for (const [what, bytes, code] of FOREIGN.slice(1)) {
      wire.said = ''
      await wire.write(bytes, `${CALL}\n`)
      expect([what, await wire.heard(2)]).toMatchObject([what, [{ error: { code } }, { id: 7, result: {} }]])
    }
  },
)

const REQUEST_LINES = [
  'GET / HTTP/1.1',
  'POST /mcp?a=b HTTP/1.0',
  'M-SEARCH * HTTP/1.1',
  '  PUT  /a b HTTP/1.1 ',
  'post / HTTP/1.1',
]

test.each(SOCKETS.flatMap((kind) => REQUEST_LINES.map((line) => [kind, line] as const)))(
  'L.http over %s the line "%s" ends a connection at any time, and nothing after it runs [R068]',
  async (kind, line) => {
    const attacked = target()
    const address = await serveOver(kind, attacked.app)
    for (const revision of ['2025-11-25', LATEST] as const) {
      const wire = await greet(await dial(address), revision)
      await wire.write(`${echo(revision, 3)}\n${line}\r\n${echo(revision, 4)}\n`)
      await insist(wire)
      expect(await wire.heard(2)).toMatchObject([{ id: 3, result: {} }, { error: { code: -32700 } }])
    }
    await expectRuns(attacked, address, 2)
  },
)

test('L.http over tcp a request line that is not UTF-8 ends the connection too, and a message about HTTP does not [R068]', async () => {
  const attacked = target()
  const wire = await dial(await serveOver('tcp', attacked.app))
  const texts = ['GET / HTTP/1.1', '\nGET / HTTP/1.1\n']
  for (const text of texts) await wire.write(`${echo(LATEST, 1, text)}\n`)
  // A message with a raw line break inside: a bug of the client, but not a web page.
  await wire.write(`{"jsonrpc":"2.0", "id": 1, "method": "GET / HTTP/1.1\n`)
  const replies = await wire.heard(3)
  expect(replies.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32700])
  await wire.write(Buffer.from(`GET /\u00ff HTTP/1.1\r\n${CALL}\n`, 'latin1'))
  await insist(wire)
  expect(attacked.ran).toBe(2)
})

test('length-prefixed messages follow the same rule, and lines on such a port never run [R068]', async () => {
  const attacked = target({ tcpBytes: 2 ** 32 })
  const framing = 'length-prefix'
  const { addresses } = await serve(attacked.app, {
    tcp: { port: 0, framing },
    unix: { path: testSocket(), framing },
  })
  const strange = [frame('hello'), frame('42'), frame('GET / HTTP/1.1'), PAGE_REQUEST, `${CALL}\n`]
  for (const address of [addresses.tcp, addresses.unix]) {
    for (const bytes of strange) {
      const wire = await dial(address)
      await wire.write(Buffer.concat([Buffer.from(bytes), frame(CALL)]))
      await wire.ended()
      await wire.write(frame(CALL))
      wire.socket.end()
      await once(wire.socket, 'close')
      expect(wire.said.split('"error":')).toHaveLength(2)
    }
    const known = await dial(address)
    await known.write(frame(PING), frame('hello'), frame(PING))
    await expect.poll(() => known.said.split('"result"').length).toBe(3)
    expect(known.said).toContain('-32700')
  }
  expect(attacked.ran).toBe(0)
})

function frame(text: string): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(Buffer.byteLength(text))
  return Buffer.concat([head, Buffer.from(text)])
}

test('a message that was rejected because it arrived too slowly does not run when the client ends its side', async () => {
  const attacked = target({ bodyMs: 100 })
  const address = await serveOver('tcp', attacked.app)
  const slow = await dial(address)
  await slow.write(`${PING}\n`, CALL)
  expect((await slow.heard(2))[1]?.error?.data?.refusal?.code).toBe(1069)
  await slow.ended()
  slow.socket.end()
  await once(slow.socket, 'close')
  await expectRuns(attacked, address, 0)
})

test('the log says that a connection was closed, and why', async () => {
  const entries: unknown[] = []
  const app = createServer({
    name: 'logs',
    version: '1',
    log: (level, text, fields) => void entries.push([level, text, fields]),
  })
  const address = await serveOver('tcp', app as AnyApp)
  const wire = await dial(address)
  await wire.write('GET / HTTP/1.1\r\n')
  await wire.ended()
  expect(entries).toContainEqual([
    'warning',
    'a connection was rejected',
    expect.objectContaining({ why: expect.stringContaining('HTTP') }),
  ])
})
