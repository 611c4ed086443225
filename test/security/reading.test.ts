import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { open } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { headed } from '../http/messages.ts'
import { frame, handshake, OPCODE } from '../ws/raw.ts'
import { bundle } from './bundle.ts'

const MIB = 1_048_576
const SENDERS = 64
/** How much each of them tries to send: four times what a message may have. */
const EACH = 16 * MIB
const PIECE = Buffer.alloc(65_536, 'x')

interface Told {
  readonly rss: number
  readonly held: number
  readonly counts: Readonly<Record<string, number>>
}

/** The server in a process of its own, so that its memory is its own. */
class Reading {
  readonly addresses: Readonly<Record<string, string>>
  readonly #process: ReturnType<typeof spawn>

  private constructor(process: ReturnType<typeof spawn>, addresses: Readonly<Record<string, string>>) {
    this.#process = process
    this.addresses = addresses
  }

  static async start(limits: object | 'strict'): Promise<Reading> {
    const args = ['--expose-gc', bundle('reading-server'), JSON.stringify(limits)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [addresses] = (await once(child, 'message')) as [Readonly<Record<string, string>>]
    return new Reading(child, addresses)
  }

  async told(): Promise<Told> {
    const answer = once(this.#process, 'message')
    this.#process.send('?')
    return ((await answer) as [Told])[0]
  }

  port(transport: string): number {
    return Number(new URL(this.addresses[transport] as string).port)
  }
}

/** How bytes of a message begin and go on over a transport, without ever coming to its end. */
interface Endless {
  readonly name: string
  readonly listener: string
  begin(port: number): string
  piece: Buffer
  /** What the server has to say in the end. */
  readonly said: RegExp
}

const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')])
const post = (path: string, more: string) => (port: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n${more}\r\n`
const ACCEPT = 'Accept: application/json, text/event-stream\r\n'

const ENDLESS: readonly Endless[] = [
  { name: 'tcp', listener: 'tcp', begin: () => '', piece: PIECE, said: /"code":(?:1068|1002)/ },
  {
    name: 'http in chunks',
    listener: 'http',
    begin: post('/mcp', `${ACCEPT}Transfer-Encoding: chunked\r\n`),
    piece: CHUNK,
    said: /^HTTP\/1.1 (?:413|429)/,
  },
  {
    name: 'http with a length',
    listener: 'http',
    begin: post('/mcp', `${ACCEPT}Content-Length: ${EACH}\r\n`),
    piece: PIECE,
    said: /^HTTP\/1.1 413/,
  },
  {
    name: 'ws',
    listener: 'ws',
    begin: handshake,
    piece: frame(PIECE, { fin: false, opcode: OPCODE.more }),
    said: /"code":(?:1068|1002)/,
  },
]

/** Sends as much as the server takes, and gives back what it says. */
async function pour(port: number, { name, begin, piece, said: expected }: Endless): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  let said = ''
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1')
      if (expected.test(said)) resolve()
    })
  })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(begin(port))
  if (name === 'ws') socket.write(frame(PIECE, { fin: false }))
  for (let sent = 0; sent < EACH && !socket.destroyed; sent += piece.length) {
    if (socket.write(piece)) continue
    let drained = (): void => undefined
    await Promise.race([closed, new Promise<void>((resolve) => socket.once('drain', (drained = resolve)))])
    socket.off('drain', drained)
  }
  await Promise.race([closed, answered])
  socket.destroy()
  return said
}

test.each(ENDLESS)(
  'sixty-four senders of messages without an end are refused over $name, and no more is held than may be [S2-1.6-7] [S2-11.4-2] [S2-11.4-3] [S2-11.4-4] [S2-13-S5]',
  { timeout: 180_000 },
  async (endless) => {
    const server = await Reading.start('strict')
    const port = server.port(endless.listener)
    await pour(port, endless)
    const before = await server.told()
    const begun = performance.now()
    const said = await Promise.all(Array.from({ length: SENDERS }, () => pour(port, endless)))
    const after = await server.told()
    const grown = { rss: after.rss - before.rss, held: after.held - before.held }
    const shown = `${mib(grown.held)} MiB held, ${mib(grown.rss)} MiB of memory, ${Math.round(performance.now() - begun)} ms`
    process.stdout.write(`${SENDERS} × ${mib(EACH)} MiB over ${endless.name}: ${shown}\n`)
    const refusals = (after.counts['too_large'] ?? 0) + (after.counts['too_many_bytes'] ?? 0)
    expect(refusals).toBeGreaterThanOrEqual(SENDERS)
    expect(said.filter((text) => !endless.said.test(text)).length).toBeLessThan(SENDERS / 4)
    // All of it would be 1,024 MiB; 64 MiB may be held, in buffers that grow by doubling.
    expect(grown.held).toBeLessThan(200 * MIB)
    expect(grown.rss).toBeLessThan(300 * MIB)
  },
)

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}

/** A whole message that is as large as it may be, and what comes before and after it. */
function whole(transport: 'tcp' | 'http' | 'ws', port: number): Buffer {
  const { body, headers } = headed('tools/call', { name: 'echo', arguments: { text: 'x', fill: '' } }, 1)
  const text = body.replace('"fill":""', `"fill":"${'y'.repeat(4 * MIB - body.length)}"`)
  if (transport === 'tcp') return Buffer.from(`${text}\n`)
  if (transport === 'ws') return Buffer.concat([Buffer.from(handshake(port)), frame(text)])
  const head = Object.entries({
    host: 'localhost',
    connection: 'close',
    'content-length': text.length,
    ...headers,
  })
  return Buffer.from(
    `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  )
}

test.each(['tcp', 'http', 'ws'] as const)(
  'limits.unparsedBytes sixty-four messages that are too much together are read one after the other over %s, and all answered [S2-11.4-4]',
  async (transport) => {
    const server = await Reading.start({
      tcpBytes: 4 * MIB,
      httpBytes: 4 * MIB,
      wsBytes: 4 * MIB,
      unparsedBytes: 64 * MIB,
    })
    const port = server.port(transport)
    const before = await server.told()
    const bytes = whole(transport, port)
    const answered = await Promise.all(
      Array.from({ length: SENDERS }, async () => {
        const socket = connect({ port, host: '127.0.0.1' })
        onTestFinished(() => void socket.destroy())
        let said = ''
        const over = new Promise<string>((resolve) => {
          socket.on('error', () => undefined).once('close', () => resolve(said))
          socket.on('data', (chunk: Buffer) => {
            said += chunk.toString('latin1')
            if (said.includes('"id":1,"result"')) resolve('answered')
          })
        })
        // In pieces, as a network brings them, so that all have begun before the first one is read.
        for (let at = 0; at < bytes.length && !socket.destroyed; at += 262_144) {
          socket.write(bytes.subarray(at, at + 262_144))
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        return over
      }),
    )
    const after = await server.told()
    process.stdout.write(
      `${SENDERS} × 4 MiB over ${transport}: ${mib(after.rss - before.rss)} MiB of memory\n`,
    )
    expect(answered.filter((how) => how !== 'answered')).toEqual([])
    expect(after.counts['too_many_bytes']).toBeUndefined()
    expect(after.rss - before.rss).toBeLessThan(300 * MIB)
  },
)

afterAll(() => closeListeners())

test.each([
  ['stdio', 'stdioBytes', '[S2-1.6-1]'],
  ['tcp', 'tcpBytes', '[S2-1.6-2]'],
  ['http', 'httpBytes', '[S2-1.6-3]'],
  ['ws', 'wsBytes', '[S2-1.6-4]'],
  ['sse', 'sseBytes', '[S2-1.6-5]'],
  ['memory', 'memoryBytes', '[S2-11.4-1]'],
] as const)(
  'over %s a message as large as the usual %s is served, and one byte more is refused %s [S2-11.4-5]',
  async (transport, limit, _ids) => {
    const app = createServer({ name: 'large', version: '1', log: () => undefined }).tool(
      'size',
      { input: { type: 'object' } },
      (input) => String(String((input as { text?: unknown }).text).length),
    )
    const revision = '2025-11-25'
    const most = app.limits[limit]
    const client = await open(app as AnyApp, { transport, revision })
    const empty = client.requestText('sized', 'tools/call', { name: 'size', arguments: { text: '' } })
    const fill = (bytes: number): string =>
      empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`)
    const served = { content: [{ text: String(most - empty.length) }] }
    expect(await client.post(fill(most))).toMatchObject({ id: 'sized', result: served })
    const refused = { error: { code: -32600, data: { refusal: { code: 1068 } } } }
    expect(await client.post(fill(most + 1))).toMatchObject(refused)
    await client.close()
  },
)

test.each([
  ['stdio', 'stdioBytes', 10],
  ['http', 'httpBytes', 50],
  ['ws', 'wsBytes', 50],
  ['sse', 'sseBytes', 10],
  ['memory', 'memoryBytes', 16],
  ['tcp', 'tcpBytes', 100],
] as const)(
  'over %s a message beyond the usual limit is served where %s is Infinity [S2-1.6-6]',
  { timeout: 180_000 },
  async (transport, limit, usual) => {
    const limits = { [limit]: Number.POSITIVE_INFINITY, unparsedBytes: Number.POSITIVE_INFINITY }
    const app = createServer({ name: 'endless', version: '1', limits, log: () => undefined }).tool(
      'size',
      { input: { type: 'object' } },
      (input) => Object.values(input as Record<string, string>).join('').length,
    )
    const client = await open(app as AnyApp, { transport, revision: '2025-11-25' })
    // In two parts, since a single string has a limit of its own.
    const half = 'x'.repeat((usual * MIB) / 2)
    expect(await client.call('size', { one: half, two: half })).toMatchObject({
      content: [{ text: String(usual * MIB) }],
    })
    await client.close()
  },
)
