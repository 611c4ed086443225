import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { bundle } from '../harness/bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-room-'))
afterAll(() => rmSync(folder, { recursive: true }))
const SERVER = bundle(new URL('room-server.ts', import.meta.url), join(folder, 'server.mjs'))
const FLAGS = ['--max-old-space-size=100', SERVER]

type Way = 'http' | 'sse' | 'tcp' | 'ws'
type Framing = 'lines' | 'length-prefix'
type Client = Awaited<ReturnType<typeof connect>>

/** A text with one character that makes the engine use two bytes for each. */
const wide = (megabytes: number): string => `😀${'a'.repeat(megabytes * 1_000_000)}`

async function start(
  over: Framing,
  heap = 0.8,
): Promise<{ child: ChildProcess; addresses: Record<string, string> }> {
  const args = [...FLAGS, JSON.stringify({ heap, over })]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [addresses] = (await once(child, 'message')) as [Record<string, string>]
  return { child, addresses }
}

function urlOf(addresses: Record<string, string>, way: Way): string {
  return way === 'sse' ? new URL('/sse', addresses['http']).href : (addresses[way] as string)
}

async function open(url: string, framing: Framing = 'lines'): Promise<Client> {
  const tcp = url.startsWith('tcp:') && { framing }
  const client = await connect(url, { recovery: false, timeout: 20_000, ...tcp })
  onTestFinished(() => client.close())
  return client
}

async function openStdio(heap = 0.8): Promise<Client> {
  const args = [...FLAGS, JSON.stringify({ heap, over: 'stdio' })]
  const client = await connect({ command: process.execPath, args }, { recovery: false })
  onTestFinished(() => client.close())
  return client
}

/** The result of a call, or what it failed with. */
const outcome = (called: Promise<unknown>): Promise<unknown> =>
  called.catch(({ code, retryAfterMs }: { code?: number; retryAfterMs?: number }) => ({ code, retryAfterMs }))

const REFUSED = { code: 1005, retryAfterMs: expect.any(Number) as number }
const endOf = ({ exitCode, signalCode }: ChildProcess): unknown => exitCode ?? signalCode

test.each<[Way, Framing]>([
  ['http', 'lines'],
  ['sse', 'lines'],
  ['tcp', 'lines'],
  ['tcp', 'length-prefix'],
  ['ws', 'lines'],
])(
  'limits.heap over %s (%s), a message for which the heap has no room is rejected, and the next one is served',
  async (way, framing) => {
    const { child, addresses } = await start(framing)
    const client = await open(urlOf(addresses, way), framing)
    expect(await outcome(client.call('echo', { text: wide(60) }))).toEqual(REFUSED)
    expect(await outcome(client.call('echo', { text: wide(2) }))).toBe('echoed')
    expect(endOf(child)).toBe(null)
  },
)

test('limits.heap over stdio, a message for which the heap has no room is rejected, and the next one is served', async () => {
  const client = await openStdio()
  expect(await outcome(client.call('echo', { text: wide(60) }))).toEqual(REFUSED)
  expect(await outcome(client.call('echo', { text: wide(2) }))).toBe('echoed')
})

test.each(['http', 'sse', 'tcp', 'ws'] as const)(
  'limits.heap large messages that arrive over %s at once and stay in memory do not end the process',
  async (way) => {
    const { child, addresses } = await start('lines')
    const url = urlOf(addresses, way)
    const clients = await Promise.all(Array.from({ length: 12 }, () => open(url)))
    const stop = new AbortController()
    const text = wide(10)
    const ends = clients.map((client) => outcome(client.call('hold', { text }, { signal: stop.signal })))
    const refusals: unknown[] = []
    for (const end of ends) void end.then((error) => refusals.push(error))
    // Those that wait hold at most 80 MB, with 20 MB each.
    await expect.poll(() => refusals.length >= 8 || endOf(child) !== null).toBe(true)
    expect(endOf(child)).toBe(null)
    expect(refusals).toContainEqual(REFUSED)
    stop.abort()
    await expect
      .poll(() => outcome(open(url).then((c) => c.call('echo', {}))), { timeout: 20_000 })
      .toBe('echoed')
  },
)

test('limits.heap calls of a megabyte that arrive over stdio at once and stay in memory do not end the process', async () => {
  const client = await openStdio()
  const stop = new AbortController()
  const text = wide(1)
  const ends = Array.from({ length: 120 }, () =>
    outcome(client.call('hold', { text }, { signal: stop.signal })),
  )
  const codes = new Set<unknown>()
  for (const end of ends) void end.then((error) => codes.add((error as { code?: number }).code))
  await expect.poll(() => codes).toContain(1005)
  stop.abort()
  await expect.poll(() => outcome(client.call('echo', {})), { timeout: 20_000, interval: 500 }).toBe('echoed')
})

test.each(['http', 'tcp'] as const)(
  'limits.heap large messages over %s, one after the other, are served while earlier ones are garbage',
  async (way) => {
    const { addresses } = await start('lines')
    const client = await open(urlOf(addresses, way))
    const text = wide(5)
    for (let nth = 0; nth < 20; nth++) expect(await outcome(client.call('echo', { text }))).toBe('echoed')
  },
)

test('limits.heap 1 turns the check of large messages off, and the process ends', async () => {
  const { child, addresses } = await start('lines', 1)
  const exited = once(child, 'exit')
  const client = await open(urlOf(addresses, 'tcp'))
  void outcome(client.call('echo', { text: wide(60) }))
  const [code, signal] = (await exited) as [number | null, string | null]
  expect(code ?? signal).not.toBe(0)
})
