import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type Running } from '../src/index.ts'
import { GOALS } from './goals.ts'
import { Checker, Series, answerOf } from './load/exchange.ts'
import { FRAMES, LINES } from './load/framing.ts'
import { Streams, type StreamTarget, type Transport } from './load/streams.ts'
import { LATENCIES } from './latency-rows.ts'
import { FIRST_ID, type Sent, sentText } from './messages.ts'

const NUMBERS = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } as const
const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

describe('answers as bytes', () => {
  test('a request with a text has 4,096 bytes on the wire, whatever its number [S2-11.1-2]', () => {
    for (const sent of ['start', 'echo'] as const)
      for (const index of [0, 1, 1023]) expect(LINES.encode(sentText(sent, index)).length).toBe(4096)
  })

  test('an answer with a wrong byte, a repeated one, or one to an unknown request is rejected', () => {
    const checker = new Checker('echo')
    for (const index of [0, 1, 2]) checker.expect(index)
    expect(checker.take(...whole(answerText('echo', 0)))).toBe(0)
    expect(checker.take(...whole(answerText('echo', 1)))).toBe(1)
    expect(() => checker.take(...whole(answerText('echo', 1)))).toThrow('wrong answer')
    expect(() => checker.take(...whole(answerText('echo', 3)))).toThrow('wrong answer')
    const text = answerText('echo', 2)
    expect(() => checker.take(...whole(text.replace('lazy', 'lady')))).toThrow('wrong answer')
    expect(checker.take(...whole(text))).toBe(2)
    expect(() => [checker.expect(4), checker.expect(4)]).toThrow('never answered')
  })

  test('client frames are masked, and server frames are found only when they are complete', () => {
    const [first, second] = ['{"id":1}', 'x'.repeat(300)]
    const encoded = FRAMES.encode(first as string)
    expect(encoded.subarray(0, 2)).toEqual(Buffer.from([0x81, 0x88]))
    expect(encoded.includes('{"id"')).toBe(false)
    const bytes = Buffer.concat([frame(first as string), frame(second as string)])
    const found = FRAMES.next(bytes, 0)
    expect(found && bytes.toString('utf8', found.from, found.to)).toBe(first)
    const next = FRAMES.next(bytes, found?.end ?? 0)
    expect(next && bytes.toString('utf8', next.from, next.to)).toBe(second)
    for (const cut of [1, 3, bytes.length - 1])
      expect(FRAMES.next(bytes.subarray(0, cut), cut < 10 ? 0 : (found?.end ?? 0))).toBeUndefined()
  })
})

describe('load over streams', () => {
  test.each([
    ['tcp', 'start'],
    ['tcp', 'echo'],
    ['ws', 'call'],
    ['http', 'call'],
  ] as const)(
    'over %s the count of %s equals the number of answers from the server [S2-11.1-2]',
    async (transport, sent) => {
      const { running, calls } = await serve()
      const streams = await open(transport, sent, running)
      const { count } = await streams.flood(transport === 'http' ? 1 : 4, { seconds: 0.2 })
      expect(count).toBeGreaterThan(0)
      expect(calls()).toBe(count)
    },
  )

  test.each(['tcp', 'ws', 'http'] as const)(
    'over %s a fixed rate sends the expected number, and every request is answered and timed [S2-11.2-1] [S2-11.2-2]',
    async (transport) => {
      const { running, calls } = await serve()
      const streams = await open(transport, 'call', running)
      const { count, p50, p999 } = await streams.pace(500, { seconds: 0.4 })
      expect(count).toBe(200)
      expect(calls()).toBe(200)
      expect(p50).toBeGreaterThan(0)
      expect(p999).toBeGreaterThanOrEqual(p50)
    },
  )

  test('a stall counts for every request that it delays [S2-11.2-3] [S2-11.2-4] [S2-13-S11]', async () => {
    const stalled = { ms: 200 }
    const { running } = await serve(() => {
      const until = performance.now() + stalled.ms
      stalled.ms = 0
      while (performance.now() < until);
    })
    const streams = await open('tcp', 'call', running)
    const { count, p99 } = await streams.pace(1000, { seconds: 0.4 })
    expect(count).toBe(400)
    expect(p99).toBeGreaterThan(100_000)
  })

  test('a wrong answer ends the measurement', async () => {
    const port = await bare((line) => {
      const { id } = JSON.parse(line) as { readonly id: number }
      return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"7"}]}}\n`
    })
    const streams = await Streams.open(targetOf('tcp', 'call', port))
    onTestFinished(() => streams.close())
    await expect(streams.flood(2, { seconds: 0.2 })).rejects.toThrow('wrong answer')
  })

  test('a connection that the server closes ends the measurement', async () => {
    const port = await bare((line, socket) => {
      if (line.includes('"initialize"')) return '{"jsonrpc":"2.0","id":999999,"result":{}}\n'
      socket.destroy()
      return ''
    })
    const streams = await Streams.open(targetOf('tcp', 'call', port))
    onTestFinished(() => streams.close())
    await expect(streams.flood(2, { seconds: 0.2 })).rejects.toThrow('the server closed a connection')
  })
})

test('a connection that the server closes between two rounds ends the second', async () => {
  const { running } = await serve()
  const streams = await open('tcp', 'call', running)
  await streams.flood(1, { calls: 10 })
  await running.close()
  await expect(streams.flood(1, { calls: 10 })).rejects.toThrow('the server closed a connection')
})

test('every percentile has a goal over every transport at 10, 50 and 80 % load', () => {
  expect(LATENCIES).toHaveLength(12)
  for (const name of LATENCIES) {
    const goals = GOALS.filter(({ work }) => work === name)
    expect(goals.map((goal) => [goal.unit, 'most' in goal && goal.most])).toEqual([
      ['µs p50', 100],
      ['µs p95', 500],
      ['µs p99', 1000],
      ['µs p99.9', 5000],
    ])
    expect(goals.filter((goal) => 'or' in goal)).toEqual([])
  }
})

function whole(text: string): [Buffer, number, number] {
  const bytes = Buffer.from(`--${text}--`)
  return [bytes, 2, bytes.length - 2]
}

function answerText(sent: Sent, index: number): string {
  const content = [{ type: 'text', text: answerOf(sent, index) }]
  return JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID + index, result: { content } })
}

/** A frame as a server sends it. */
function frame(text: string): Buffer {
  const { length } = text
  return Buffer.concat([
    Buffer.from(length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 255]),
    Buffer.from(text),
  ])
}

async function serve(
  before: () => void = () => undefined,
): Promise<{ readonly running: Running; calls(): number }> {
  let count = 0
  const counted = (text: string): string => {
    before()
    count++
    return text
  }
  const app = createServer({ name: 'bench', version: '1', log: () => undefined })
    .tool('add', { input: NUMBERS }, ({ a, b }) => counted(String(Number(a) + Number(b))))
    .tool('echo', { input: TEXT }, ({ text }) => counted(text))
    .tool('start', { input: TEXT }, ({ text }) => counted(text.slice(0, 7)))
  const running = await app.listen({ http: { port: 0 }, ws: true, tcp: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => running.close())
  return { running, calls: () => count }
}

async function open(transport: Transport, sent: Sent, { addresses }: Running): Promise<Streams> {
  const address = addresses[transport as 'tcp' | 'ws' | 'http'] as string
  const streams = await Streams.open(targetOf(transport, sent, Number(new URL(address).port)))
  onTestFinished(() => streams.close())
  return streams
}

function targetOf(transport: Transport, sent: Sent, port: number): StreamTarget {
  return { transport, sent, port, connections: 4, pid: process.pid, file: '', options: '' }
}

/** A bare server that answers each line with the result of a function. */
async function bare(answer: (line: string, socket: Socket) => string): Promise<number> {
  const server: Server = createNetServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      for (const line of bytes.toString('utf8').split('\n'))
        if (line.includes('"id"')) socket.write(answer(line, socket))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as { readonly port: number }).port
}

test('the requests of a series differ but have the same length', () => {
  const series = new Series('call', LINES)
  expect(series.bytesOf(0, 1).length).toBe(series.bytesOf(1023, 1).length)
  expect(series.bytesOf(0, 1).equals(series.bytesOf(1, 1))).toBe(false)
})
