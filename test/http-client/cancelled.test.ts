import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { failureOf } from '../harness/failure.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
})

interface Wire {
  /** Cancellations that the server has received, accepted or not. */
  cancelled: number
  /** Those whose request is still open, and the most at the same time. */
  open: number
  most: number
  readonly fetch: typeof fetch
}

const opening = (protocolVersion: string): object => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 's', version: '1' },
})
const events = (stream: ReadableStream | string): Response =>
  new Response(stream as string, { headers: { 'content-type': 'text/event-stream' } })

/** A server that never answers calls, and accepts cancellations only if it is honest. */
function wire(transport: string, isHonest: boolean): Wire {
  const all: Wire = { cancelled: 0, open: 0, most: 0, fetch: answer as typeof fetch }
  let say: (text: string) => void = () => undefined
  return all

  async function answer(url: URL, { method: verb, body, signal }: RequestInit = {}): Promise<Response> {
    const { id, method } = JSON.parse((body ?? '{}') as string) as { id?: number; method?: string }
    const isOlder = transport === 'HTTP+SSE'
    if (verb === 'GET' && isOlder) return events(new ReadableStream({ start: (to) => listen(to) }))
    if (verb !== 'POST' || method === 'server/discover' || (isOlder && url.pathname !== '/post'))
      return new Response(null, { status: 405 })
    if (method === 'notifications/cancelled') await hold(signal as AbortSignal)
    if (method === 'tools/call' && !isOlder) await new Promise((_, reject) => onAbort(signal, reject))
    if (method !== 'initialize') return new Response(null, { status: 202 })
    const reply = { jsonrpc: '2.0', id, result: opening(isOlder ? '2024-11-05' : '2025-11-25') }
    if (!isOlder) return Response.json(reply)
    say(`data: ${JSON.stringify(reply)}\n\n`)
    return new Response(null, { status: 202 })
  }

  function listen(to: ReadableStreamDefaultController): void {
    say = (text) => to.enqueue(new TextEncoder().encode(text))
    say('event: endpoint\ndata: /post\n\n')
  }

  async function hold(signal: AbortSignal): Promise<void> {
    all.cancelled++
    all.most = Math.max(all.most, ++all.open)
    try {
      await (isHonest || new Promise((_, reject) => onAbort(signal, reject)))
    } finally {
      all.open--
    }
  }
}

function onAbort(signal: AbortSignal | null | undefined, reject: (reason: unknown) => void): void {
  signal?.addEventListener('abort', () => reject(signal.reason))
}

/** Times out 100 calls at once. */
async function giveUp(client: Client): Promise<void> {
  const calls = Array.from({ length: 100 }, () => failureOf(client.call('slow', {}, { timeout: 100 })))
  await vi.advanceTimersByTimeAsync(100)
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => 'timeout'))
  await vi.advanceTimersByTimeAsync(0)
}

const TRANSPORTS = ['Streamable HTTP', 'HTTP+SSE']

test.each(TRANSPORTS)(
  'cancellations that the server does not accept take a few connections for a few seconds over %s [C.cancel-held]',
  async (transport) => {
    const held = wire(transport, false)
    const client = await connect('http://held.example/mcp', { fetch: held.fetch })
    await giveUp(client)
    expect([held.cancelled, held.open]).toEqual([16, 16])
    await vi.advanceTimersByTimeAsync(5000)
    expect([held.cancelled, held.open]).toEqual([16, 0])
    await giveUp(client)
    expect([held.cancelled, held.most]).toEqual([32, 16])
    await client.close()
    expect(held.open).toBe(0)
  },
)

test.each(TRANSPORTS)('a server that accepts them gets all cancellations over %s', async (transport) => {
  const honest = wire(transport, true)
  const client = await connect('http://honest.example/mcp', { fetch: honest.fetch })
  await giveUp(client)
  expect(honest.cancelled).toBe(100)
  expect(honest.most).toBeLessThanOrEqual(16)
  await client.close()
})
