import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, refusalOf, type Client, type ConnectOptions, type McpError } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import type { App } from '../../src/app/app.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { Running } from '../../src/app/listen/listen.ts'
import { Gate } from '../http/server.ts'

const TRANSPORTS = ['http', 'ws', 'tcp'] as const
type Transport = (typeof TRANSPORTS)[number]
const REVISIONS = ['2025-11-25', '2026-07-28'] as const

interface Stage {
  readonly app: App
  readonly gate: Gate
  readonly ran: string[]
}

/** A server with a tool that waits for a gate, and notes what ran. */
function make(limits: Partial<Limits> = {}): Stage {
  const gate = new Gate()
  const ran: string[] = []
  const app = createServer({ name: 'harbour', version: '1', limits, log: () => undefined })
    .tool('wait', {}, async () => {
      ran.push('wait')
      await gate.opened
      return 'waited'
    })
    .tool('note', {}, () => {
      ran.push('note')
      return 'noted'
    })
  return { app, gate, ran }
}

async function listen(app: App, transport: Transport, port = 0): Promise<Running> {
  const running = await app.listen({ [transport]: { port } })
  onTestFinished(() => running.close())
  return running
}

async function join(running: Running, transport: Transport, options: ConnectOptions): Promise<Client> {
  const client = await connect(running.addresses[transport] as string, options)
  onTestFinished(() => client.close())
  return client
}

async function refused(work: Promise<unknown>): Promise<McpError> {
  return work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as McpError,
  )
}

describe.each(TRANSPORTS)('over %s', (transport) => {
  test.each(REVISIONS)(
    'at %s a call that is one too many is sent again until there is room, and runs once [S2-13-C7] [S2-13-S12]',
    async (revision) => {
      const { app, gate, ran } = make({ allInFlight: 1, queued: 0 })
      const client = await join(await listen(app, transport), transport, { revision })
      const told = new Promise<string>((resolve) => {
        client.on('warning', (text) => text.includes('retrying') && resolve(text))
      })
      const first = client.call('wait')
      await expect.poll(() => ran).toEqual(['wait'])
      const second = client.call('note')
      expect(await told).toContain('BACKPRESSURE_ACTIVE; try 2 of 5')
      expect(ran).toEqual(['wait'])
      gate.open()
      expect(await Promise.all([first, second])).toEqual(['waited', 'noted'])
      expect(ran).toEqual(['wait', 'note'])
    },
  )

  test.each(REVISIONS)(
    'at %s a server that ends finishes what runs and refuses what is new with 1077 before it closes [S2-8.5-6] [S2-8.3-10]',
    async (revision) => {
      const { app, gate, ran } = make()
      const running = await listen(app, transport)
      const client = await join(running, transport, { revision, recovery: false })
      const first = client.call('wait')
      await expect.poll(() => ran).toEqual(['wait'])
      const closed = running.close()
      const error = await refused(client.call('note'))
      expect(refusalOf(error)).toMatchObject({
        code: 1077,
        reaction: 'reconnect',
        severity: 'warn',
        retryable: true,
      })
      expect(error.retryAfterMs).toBe(5000)
      gate.open()
      expect(await first).toBe('waited')
      await closed
      expect(ran).toEqual(['wait'])
    },
  )

  test.concurrent('a client moves on to the server that takes the place of one that ends [S2-8.5-6] [S2-13-C11] [S2-13-S12]', async () => {
    const old = make()
    const running = await old.app.listen({ [transport]: { port: 0 } })
    const address = running.addresses[transport] as string
    const client = await connect(address, { revision: '2025-11-25' })
    const first = client.call('wait')
    await expect.poll(() => old.ran).toEqual(['wait'])
    const closed = running.close()
    const second = client.call('note')
    await expect.poll(() => client.state).toBe('reconnecting')
    old.gate.open()
    expect(await first).toBe('waited')
    await closed
    const next = make()
    const later = await next.app.listen({ [transport]: { port: Number(new URL(address).port) } })
    try {
      expect(await second).toBe('noted')
      expect([old.ran, next.ran]).toEqual([['wait'], ['note']])
    } finally {
      await client.close()
      await later.close()
    }
  }, 120_000)
})

test('HTTP says in a header how long to wait wherever it refuses for now [S2-8.3-9]', async () => {
  const { app, gate, ran } = make({ inFlight: 1, queued: 0 })
  const running = await listen(app, 'http')
  const client = await join(running, 'http', { revision: '2025-11-25', recovery: false })
  const first = client.call('wait')
  await expect.poll(() => ran).toEqual(['wait'])
  const busy = await refused(client.call('note'))
  expect(busy).toMatchObject({
    kind: 'too_many_calls',
    refusal: 'CONCURRENT_LIMIT_EXCEEDED',
    retryAfterMs: 1000,
  })
  const closed = running.close()
  const post = await fetch(running.url as string, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  })
  expect([post.status, post.headers.get('retry-after')]).toEqual([503, '5'])
  gate.open()
  await first
  await closed
})
