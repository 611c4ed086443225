import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { AnyApp } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { headed } from '../http/messages.ts'
import { dial, serveOver, SOCKETS } from '../tcp/wire.ts'
import { frame } from '../ws/raw.ts'
import { open as openWs, start } from '../ws/server.ts'

afterAll(() => closeListeners())

const COUNT = 300
const ALL = Array.from({ length: COUNT }, (_, at) => at + 1)
const LARGE = 'x'.repeat(150_000)

/** Requests that are answered at once, and such that are answered a moment later. */
const REQUESTS = {
  'at once': ALL.map((id) => headed('tools/call', { name: 'large' }, id).body),
  later: ALL.map((id) => headed('resources/read', { uri: 'file:///large' }, id).body),
}
const HOWS = ['at once', 'later'] as const
const KINDS = SOCKETS.flatMap((kind) => HOWS.map((how) => [kind, how] as const))

/** A server with large answers; counts how many it made. */
function target(limits: object = {}): { readonly app: AnyApp; readonly made: () => number } {
  let made = 0
  const make = (): string => {
    made++
    return LARGE
  }
  const app = createServer({ name: 'target', version: '1', limits, log: () => undefined })
    .tool('large', {}, make)
    .resource('file:///large', {}, make)
  return { app: app as AnyApp, made: () => made }
}

const toLines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')
const idsOf = (said: string): number[] =>
  said
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: number }).id)

test.each(KINDS)(
  'requests over %s that arrive together wait while their client does not read, and are answered when it does (%s)',
  async (kind, how) => {
    const { app, made } = target()
    const address = await serveOver(kind, app)
    const [slow, other] = [await dial(address), await dial(address)]
    slow.socket.pause()
    slow.socket.write(toLines(REQUESTS[how]))
    await until(() => made() > 0, 10_000)
    // Others are served meanwhile.
    for (let id = 1; id <= 20; id++) {
      await other.write(`${headed('server/discover', {}, id).body}\n`)
      await other.heard(id)
    }
    expect(made()).toBeLessThan(COUNT * 0.7)
    slow.socket.resume()
    await until(() => made() === COUNT && slow.said.split('\n').length > COUNT, 30_000)
    expect(idsOf(slow.said)).toEqual(ALL)
  },
)

test.each(HOWS)(
  'requests over tcp that arrive together with the end of the client are all answered (%s)',
  async (how) => {
    const { app, made } = target()
    const wire = await dial(await serveOver('tcp', app))
    wire.socket.pause()
    wire.socket.end(toLines(REQUESTS[how]))
    await until(() => made() > 0, 10_000)
    wire.socket.resume()
    await wire.ended()
    expect(idsOf(wire.said)).toEqual(ALL)
  },
)

test.each(HOWS)('requests over tcp are not answered after the connection was aborted (%s)', async (how) => {
  const { app, made } = target({ bodyMs: 200 })
  const wire = await dial(await serveOver('tcp', app))
  wire.socket.pause()
  wire.socket.write(toLines(REQUESTS[how]))
  await until(() => app.counts.get('slow_reader') === 1, 10_000)
  expect(made()).toBeLessThan(COUNT * 0.7)
})

test.each(HOWS)(
  'requests over ws that arrive together wait while their client does not read (%s)',
  async (how) => {
    const { app, made } = target({ bodyMs: 200 })
    const raw = await openWs((await start(app)).port)
    raw.socket.pause()
    raw.write(...REQUESTS[how].map((text) => frame(text)))
    await until(() => app.counts.get('slow_reader') === 1, 10_000)
    expect(made()).toBeLessThan(COUNT * 0.7)
  },
)

test.each([
  ['at once', 1],
  ['later', 129],
] as const)(
  'requests over stdio that arrive together wait while the client does not read, even if it has ended its side (%s)',
  async (how, most) => {
    const { app, made } = target()
    const [input, output] = [new PassThrough({ highWaterMark: 1 << 20 }), new PassThrough()]
    const server = serveStdio(serviceOf(app), { limits: app.limits, input, output })
    input.end(toLines(REQUESTS[how]))
    await until(() => made() > 0, 10_000)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    expect(made()).toBeLessThanOrEqual(most)
    let said = ''
    output.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    await server.closed
    expect(idsOf(said)).toEqual(ALL)
  },
)

test('requests over stdio are not answered when nobody can read the answers', async () => {
  const { app, made } = target()
  const [input, output] = [new PassThrough({ highWaterMark: 1 << 20 }), new PassThrough()]
  const server = serveStdio(serviceOf(app), { limits: app.limits, input, output })
  input.end(toLines(REQUESTS['at once']))
  await until(() => made() > 0, 10_000)
  output.destroy(new Error('EPIPE'))
  await server.closed
  expect(made()).toBe(1)
})
