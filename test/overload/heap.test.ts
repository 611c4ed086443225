import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { bundle } from '../harness/bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-heap-'))
afterAll(() => rmSync(folder, { recursive: true }))
const SERVER = bundle(new URL('heap-server.ts', import.meta.url), join(folder, 'server.mjs'))
const FLAGS = ['--max-old-space-size=100', SERVER]
/** More calls than the heap has room for, of about a megabyte each. */
const CALLS = 400

type Way = 'http' | 'sse' | 'tcp' | 'ws'

async function start(heap: number): Promise<{ child: ChildProcess; addresses: Record<string, string> }> {
  const args = [...FLAGS, JSON.stringify({ heap, over: 'listen' })]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [addresses] = (await once(child, 'message')) as [Record<string, string>]
  return { child, addresses }
}

function urlOf(addresses: Record<string, string>, way: Way): string {
  return way === 'sse' ? new URL('/sse', addresses['http']).href : (addresses[way] as string)
}

async function open(url: string): Promise<Awaited<ReturnType<typeof connect>>> {
  const client = await connect(url, { recovery: false, timeout: 5000 })
  onTestFinished(() => client.close())
  return client
}

async function echo(url: string): Promise<unknown> {
  return (await open(url)).call('echo', {})
}

/** Calls until the server dies, or all calls have been made; returns the errors by kind. */
async function attack(url: string, child: ChildProcess): Promise<Map<string, number>> {
  const errors = new Map<string, number>()
  const note = (thrown: unknown): void => {
    const { kind = 'other' } = thrown as { kind?: string }
    errors.set(kind, (errors.get(kind) ?? 0) + 1)
  }
  for (let each = 0; each < CALLS && child.exitCode === null && child.signalCode === null; each += 4) {
    const client = await open(url).catch(note)
    if (client === undefined) continue
    for (let nth = 0; nth < 4; nth++) void client.call('keep', {}).catch(note)
    await client.call('echo', {}).catch(note)
  }
  return errors
}

test.each(['http', 'sse', 'tcp', 'ws'] as const)(
  'limits.heap a server survives memory that no limit counts over %s, and serves again afterwards',
  async (way) => {
    const { child, addresses } = await start(0.8)
    const url = urlOf(addresses, way)
    await attack(url, child)
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
    await expect.poll(() => echo(url), { timeout: 20_000, interval: 500 }).toBe('echoed')
    child.send('state')
    const [state] = (await once(child, 'message')) as [{ reports: string[]; counts: Record<string, number> }]
    const episodes = state.reports.filter((text) => text.startsWith('the heap is nearly full'))
    expect(episodes.length).toBeGreaterThan(0)
    expect(state.counts['heap_full']).toBeGreaterThanOrEqual(episodes.length)
  },
  60_000,
)

test('limits.heap 1 turns the guard off, and the same server dies', async () => {
  const { child, addresses } = await start(1)
  const exited = once(child, 'exit')
  void attack(urlOf(addresses, 'tcp'), child).catch(() => undefined)
  const [code, signal] = (await exited) as [number | null, string | null]
  expect(code ?? signal).not.toBe(0)
}, 60_000)

test('limits.heap over stdio, calls are rejected while the heap is nearly full, and served when it is not', async () => {
  const args = [...FLAGS, JSON.stringify({ heap: 0.8, over: 'stdio' })]
  const client = await connect({ command: process.execPath, args }, { recovery: false })
  onTestFinished(() => client.close())
  const stop = new AbortController()
  let refusal: { code?: number } | undefined
  for (let each = 0; each < CALLS && refusal === undefined; each++) {
    const note = (thrown: unknown): void => void (refusal = thrown as { code?: number })
    void client.call('keep', {}, { signal: stop.signal }).catch(note)
    await client.call('echo', {}).catch(note)
  }
  expect(refusal?.code).toBe(1005)
  stop.abort()
  await expect.poll(() => client.call('echo', {}), { timeout: 20_000, interval: 500 }).toBe('echoed')
}, 60_000)
