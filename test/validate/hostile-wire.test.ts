import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { SseParser, type SseEvent } from '../../src/validate/events.ts'
import { httpCall } from '../../src/validate/http-call.ts'
import { Session } from '../../src/validate/session.ts'
import { Trace } from '../../src/validate/trace.ts'
import { HttpWire } from '../../src/validate/wire-http.ts'
import { LineWire } from '../../src/validate/wire-lines.ts'
import { processorMs } from '../harness/processor.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listening(server: Server): Promise<URL> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
}

function lineWire(trace: Trace = new Trace()): { wire: LineWire; input: PassThrough; output: PassThrough } {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const wire = new LineWire('stdio', { input, output }, async () => void input.destroy(), trace)
  return { wire, input, output }
}

/** Opens a connection to a peer that has sent these lines. */
async function received(trace: Trace, ...lines: readonly string[]): Promise<LineWire> {
  const { wire, input } = lineWire(trace)
  for (const line of lines) input.write(`${line}\n`)
  input.end()
  await wire.waitForEnd(5_000)
  return wire
}

function resultOf(value: string): string {
  return `{"jsonrpc":"2.0","id":1,"result":{"x":${value}}}`
}

test('a GET whose status came is answered, though its body does not end', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'text/plain' })
    response.write('not')
  })
  const url = await listening(server)
  const began = performance.now()
  const call = { method: 'GET', headers: {}, ms: 5_000 }
  expect(await httpCall(url, call, new Trace())).toMatchObject({ status: 404, body: 'not' })
  expect(performance.now() - began).toBeLessThan(4_000)
  await expect(httpCall(url, { ...call, method: 'POST', ms: 500 }, new Trace())).rejects.toThrow('no reply')
})

test.each(['Upgrade: x', 'Upgrade: websocket\r\nContent-Type: application/json'])(
  'a reply that changes the protocol (%s) is an error',
  async (headers) => {
    const server = createServer()
    server.on('connection', (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () =>
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${headers}\r\n\r\n`),
      )
    })
    const url = await listening(server)
    await expect(httpCall(url, { method: 'POST', headers: {}, body: '{}' }, new Trace())).rejects.toThrow(
      /POST \/mcp is answered with 101/,
    )
  },
)

test('a long event in small pieces is read in linear time', async () => {
  const events: SseEvent[] = []
  const parser = new SseParser((event) => events.push(event))
  const piece = 'x'.repeat(1_000)
  const ms = await processorMs(() => {
    parser.push('data: ')
    for (let at = 0; at < 15_000; at++) parser.push(piece)
    parser.push('\n\n')
  })
  expect(events.map(({ data }) => data.length)).toEqual([15_000_000])
  expect(ms).toBeLessThan(2_000)
})

test('line breaks of events may be divided among pieces', () => {
  const read = (...pieces: readonly string[]): readonly Partial<SseEvent>[] => {
    const events: SseEvent[] = []
    const parser = new SseParser((event) => events.push(event))
    for (const piece of pieces) parser.push(piece)
    return events
  }
  const whole = ': note\r\nid: 7\r\nevent: x\r\ndata: a\r\ndata:b\r\nretry: 5\r\n\r\ndata: c\r\n\r\n'
  const expected = [
    { type: 'x', data: 'a\nb', id: '7', retry: '5', hasData: true },
    { type: 'message', data: 'c', id: undefined, retry: undefined, hasData: true },
  ]
  for (const text of [whole, whole.replaceAll('\r\n', '\n')]) {
    expect(read(text)).toEqual(expected)
    expect(read(...text.split(''))).toEqual(expected)
  }
  expect(read('id: 1\n\ndata\n\n')).toMatchObject([
    { id: '1', data: '', hasData: false },
    { data: '', hasData: true },
  ])
  // A return at the end may be half of a line break, so the event waits for what follows.
  expect(read('data: a\r\r', 'data: b\r\r', ':')).toMatchObject([{ data: 'a' }, { data: 'b' }])
})

test('a long line in small pieces is read in linear time, and one without end ends the connection', async () => {
  const { wire, input } = lineWire()
  const piece = 'x'.repeat(1_000)
  const ms = await processorMs(async () => {
    for (let at = 0; at < 15_000; at++) input.emit('data', Buffer.from(piece))
    input.emit('data', Buffer.from('\n'))
  })
  expect(wire.received.map(({ text }) => text.length)).toEqual([15_000_000])
  expect(ms).toBeLessThan(3_000)
  const other = lineWire()
  for (let at = 0; at < 16_001; at++) other.input.emit('data', Buffer.from(piece))
  expect(other.wire.ended).toBe('the peer sent a line without end')
})

test.each([
  ['nested very deep', '['.repeat(7_000_000) + ']'.repeat(7_000_000), /nested deeper than 128 levels/],
  ['with very many lists', `[${'[],'.repeat(5_000_000)}[]]`, /more than 500000 (?:lists|objects)/],
  ['with very many values', `[${'1,'.repeat(7_000_000)}1]`, /more than 1000000 values/],
])('a message %s is not parsed', async (_, value, problem) => {
  const wire = await received(new Trace(), resultOf(value))
  expect(wire.received).toEqual([])
  expect(wire.ended).toMatch(problem)
})

test('a message that is as deep as it may be is read', async () => {
  const wire = await received(new Trace(), resultOf('['.repeat(126) + ']'.repeat(126)), resultOf('"[{"'))
  expect(wire.received.map(({ messages }) => messages.length)).toEqual([1, 1])
})

test('a run keeps only so much: the oldest messages of closed connections are forgotten', async () => {
  const trace = new Trace()
  const wires: LineWire[] = []
  for (let at = 0; at < 12; at++)
    wires.push(await received(trace, resultOf(JSON.stringify('x'.repeat(7_000_000)))))
  const kept = wires.flatMap((wire) => wire.received).reduce((sum, { text }) => sum + text.length, 0)
  expect(kept).toBeLessThan(64_000_000)
  expect(wires.map(({ received }) => received.length)).toEqual([...Array<number>(8).fill(0), 1, 1, 1, 1])
})

test('what is open is not forgotten: a connection that is too much ends', async () => {
  const trace = new Trace()
  const text = `${resultOf(JSON.stringify('x'.repeat(7_000_000)))}\n`
  const all = Array.from({ length: 6 }, () => lineWire(trace))
  for (const { input } of all) input.emit('data', Buffer.from(text))
  expect(all.map(({ wire }) => wire.received.length)).toEqual([1, 1, 1, 1, 0, 0])
  expect(all[5]?.wire.ended).toMatch(/the peer sent more than 64 MB/)
})

test('bodies that are no messages count too', async () => {
  const url = await listening(
    createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end('x'.repeat(6_000_000))
    }),
  )
  const wire = new HttpWire({ url, headers: {}, trace: new Trace(), ms: 5_000 })
  const lengths: (number | undefined)[] = []
  for (let at = 0; at < 3; at++) lengths.push((await wire.send('{}')).body.length)
  expect(lengths).toEqual([6_000_000, 6_000_000, 6_000_000])
  expect(wire.ended).toBe('the peer sent too much')
})

test('each message of a batch counts: too many end the connection', async () => {
  const batch = (count: number): string => `[${Array<string>(count).fill('{"method":"a"}').join()}]`
  const wire = await received(new Trace(), batch(6_000), batch(4_000), '{}')
  expect(wire.received.map(({ messages }) => messages.length)).toEqual([6_000, 4_000])
  expect(wire.ended).toBe('the peer sent too many messages')
  const other = await received(new Trace(), batch(10_001))
  expect(other.received).toEqual([])
  expect(other.ended).toBe('the peer sent too many messages')
})

test('a peer gets at most 1,000 answers on a connection', async () => {
  const { wire, input, output } = lineWire()
  output.resume()
  const session = new Session(wire, {
    revision: '2025-11-25',
    capabilities: {},
    ms: 1_000,
    answer: () => ({ roots: [] }),
  })
  for (let id = 0; id < 1_500; id++)
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: id % 2 === 0 ? 'ping' : 'roots/list' })}\n`)
  await wire.wait(({ messages }) => messages[0]?.['id'] === 1_499, { ms: 30_000 })
  expect(session.wire.sent).toHaveLength(1_000)
})
