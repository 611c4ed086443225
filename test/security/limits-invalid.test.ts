import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { headed, message } from '../http/messages.ts'
import { dial, serveOver, SOCKETS, type SocketKind } from '../tcp/wire.ts'
import { frame, OPCODE } from '../ws/raw.ts'
import { open as openWs, start } from '../ws/server.ts'

afterAll(() => closeListeners())

type Kind = 'stdio' | 'ws' | SocketKind
const CLOSABLE: readonly Kind[] = ['ws', ...SOCKETS]
const KINDS: readonly Kind[] = ['stdio', ...CLOSABLE]

interface Reply {
  readonly id?: number
  readonly error?: { readonly code: number; readonly message: string }
}

/** A connection that takes several messages in one piece. */
interface Pipe {
  send(texts: readonly string[]): void
  /** Sends them and ends the client's side. */
  finish(texts: readonly string[]): void
  readonly replies: () => readonly Reply[]
  /** Whether the server has ended the connection. */
  readonly isClosed: () => boolean
}

const toLines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')
const fromLines = (said: string): readonly Reply[] =>
  said
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reply)

async function openPipe(kind: Kind, app: AnyApp): Promise<Pipe> {
  if (kind === 'stdio') return overStdio(app)
  if (kind === 'ws') {
    const raw = await openWs((await start(app)).port)
    const send = (texts: readonly string[]): void => raw.write(...texts.map((text) => frame(text)))
    return {
      send,
      finish: (texts) => send(texts),
      replies: () => raw.texts.map((text) => JSON.parse(text) as Reply),
      isClosed: () =>
        raw.frames.some(({ opcode, payload }) => opcode === OPCODE.close && payload.readUInt16BE(0) === 1008),
    }
  }
  const wire = await dial(await serveOver(kind, app))
  return {
    send: (texts) => void wire.socket.write(toLines(texts)),
    finish: (texts) => void wire.socket.end(toLines(texts)),
    replies: () => fromLines(wire.said),
    isClosed: () => wire.socket.readableEnded,
  }
}

function overStdio(app: AnyApp): Pipe {
  const input = new PassThrough({ highWaterMark: 1 << 20 })
  const output = new PassThrough()
  let said = ''
  output.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  serveStdio(serviceOf(app), { limits: app.limits, input, output })
  return {
    send: (texts) => void input.write(toLines(texts)),
    finish: (texts) => void input.end(toLines(texts)),
    replies: () => fromLines(said),
    isClosed: () => false,
  }
}

interface Target {
  readonly app: AnyApp
  /** The turn of the event loop in which each call ran. */
  readonly turns: number[]
}

/** A server with a tool that keeps the process busy for some milliseconds. */
function target(limits: Partial<Limits> = {}): Target {
  const turns: number[] = []
  let turn = 0
  let isCounting = false
  const app = createServer({ name: 'target', version: '1', log: () => undefined, limits }).tool(
    'work',
    {},
    () => {
      if (!isCounting) {
        isCounting = true
        setImmediate(() => {
          turn++
          isCounting = false
        })
      }
      turns.push(turn)
      const end = performance.now() + 4
      while (performance.now() < end);
      return 'done'
    },
  )
  return { app: app as AnyApp, turns }
}

const work = (id: number): string => headed('tools/call', { name: 'work' }, id).body
const PING = message('ping', {}, 1)
const INVALID = ['1', 'x', '{}', '{"jsonrpc":"2.0","id":7,"method":5}']
const invalid = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => INVALID[at % INVALID.length] as string)
const ids = (replies: readonly Reply[]): unknown[] => replies.map(({ id }) => id)

test.each(CLOSABLE)(
  'limits.invalidMessages a client whose last messages were all invalid is disconnected over %s, and nothing after them runs',
  async (kind) => {
    const { app, turns } = target({ invalidMessages: 6 })
    const pipe = await openPipe(kind, app)
    // A valid message in between makes a new start.
    pipe.send([PING, ...invalid(5), work(2), ...invalid(5), work(3)])
    await until(() => pipe.replies().length === 13, 10_000)
    pipe.send([...invalid(7), work(4)])
    await until(pipe.isClosed, 10_000)
    const last = pipe.replies().slice(13)
    expect(last).toHaveLength(7)
    expect(last.at(-1)?.error).toMatchObject({
      code: -32600,
      message: 'the last 6 messages were not valid, so the connection is closed',
    })
    expect(turns).toHaveLength(2)
    expect(app.counts.get('too_many_invalid')).toBe(1)
  },
)

test.each(SOCKETS)(
  'limits.invalidMessages the messages of a batch count one by one over %s',
  async (kind) => {
    const { app } = target({ invalidMessages: 6 })
    const pipe = await openPipe(kind, app)
    const clientInfo = { name: 'x', version: '1' }
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo }
    pipe.send([message('initialize', params, 1), '[1,2,3,4]', '[1,2,3]', '[1]'])
    await until(pipe.isClosed, 10_000)
    expect(pipe.replies().at(-1)?.error?.message).toContain('the last 6 messages were not valid')
    expect(app.counts.get('too_many_invalid')).toBe(1)
  },
)

test('limits.invalidMessages does not end stdio, where there is only one client', async () => {
  const { app } = target({ invalidMessages: 6 })
  const pipe = await openPipe('stdio', app)
  pipe.send([...invalid(1000), work(2)])
  await until(() => pipe.replies().length === 1001, 10_000)
  expect(pipe.replies().at(-1)).toMatchObject({ id: 2, result: {} })
})

test.each(KINDS)(
  'messages that arrive together are answered in turns over %s, so that others are served in between',
  async (kind) => {
    const { app, turns } = target()
    const pipe = await openPipe(kind, app)
    const sent = Array.from({ length: 100 }, (_, at) => at + 1)
    pipe.send(sent.map(work))
    await until(() => pipe.replies().length === 100, 20_000)
    expect(ids(pipe.replies())).toEqual(sent)
    expect(new Set(turns).size).toBeGreaterThan(4)
    // What comes later is served as before.
    pipe.send([work(101), work(102)])
    await until(() => pipe.replies().length === 102, 10_000)
    expect(ids(pipe.replies()).slice(100)).toEqual([101, 102])
  },
)

test.each(KINDS)(
  'a client that ends its side gets all its answers, also those of later turns, over %s',
  async (kind) => {
    const { app } = target()
    const pipe = await openPipe(kind, app)
    const sent = Array.from({ length: 100 }, (_, at) => at + 1)
    pipe.finish(sent.map(work))
    await until(() => pipe.replies().length === 100, 20_000)
    expect(ids(pipe.replies())).toEqual(sent)
  },
)

test.each(KINDS)('errors about one invalid message after another have no stack over %s', async (kind) => {
  const { app } = target()
  const stacks: string[] = []
  app.use({ observer: { end: (_, { error }) => void stacks.push(error?.stack ?? '') } })
  const pipe = await openPipe(kind, app)
  pipe.send([PING, ...invalid(50)])
  await until(() => pipe.replies().length === 51, 10_000)
  expect(stacks.slice(2)).toHaveLength(49)
  expect(stacks.slice(2).filter((stack) => stack.includes('\n    at '))).toEqual([])
  expect(new Error('later').stack).toContain('\n    at ')
})
