import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAuth } from '../../src/auth/client/define-auth.ts'
import { connect, McpError, type Client, type ConnectOptions } from '../../src/client.ts'
import { refusal, startPeer, TRANSPORTS, type Peer, type Transport } from './peer.ts'
import type { Turn } from './script.ts'

const FAST = { first: '10ms', longest: '200ms' } as const

interface Play {
  readonly client: Client
  readonly peer: Peer
  /** What the client told about waits. */
  readonly waits: string[]
}

async function play(
  transport: Transport,
  turns: readonly Turn[],
  options: ConnectOptions = {},
): Promise<Play> {
  const peer = await startPeer(transport, turns)
  const client = await connect(peer.target, { revision: '2025-11-25', recovery: FAST, ...options })
  onTestFinished(() => client.close())
  const waits: string[] = []
  client.on('warning', (text) => void (text.startsWith('retrying ') && waits.push(text)))
  return { client, peer, waits }
}

async function failure(work: Promise<unknown>): Promise<McpError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(McpError)
  return error as McpError
}

describe.each(TRANSPORTS)('over %s', (transport) => {
  test('a call that a rate limit refused waits 100 ms, then 200 ms, and is answered [S2-8.5-1] [S2-13-C7] [S2-13-S12]', async () => {
    const { client, peer, waits } = await play(transport, [refusal(1056), refusal(1056)], { recovery: {} })
    expect(await client.call('work')).toBe('call 3')
    expect(peer.memory).toMatchObject({ calls: 3, opens: 1 })
    const told = waits.map((text) => /in (\d+) ms \((\w+); try (\d) of 5\)/.exec(text)?.slice(1) ?? [])
    expect(told.map(([, ...rest]) => rest)).toEqual([
      ['RATE_LIMIT_EXCEEDED', '2'],
      ['RATE_LIMIT_EXCEEDED', '3'],
    ])
    const [first, second] = told.map(([ms]) => Number(ms))
    expect(first).toBeGreaterThanOrEqual(100)
    expect(first).toBeLessThanOrEqual(126)
    expect(second).toBeGreaterThanOrEqual(200)
    expect(second).toBeLessThanOrEqual(251)
  })

  test('what may have run is not repeated unless it is idempotent [S2-8.5-3] [S2-13-C7]', async () => {
    for (const [code, name] of [
      [1067, 'TRANSPORT_ERROR'],
      [1069, 'TIMEOUT'],
      [1080, 'DEPENDENCY_UNAVAILABLE'],
    ] as const) {
      const { client, peer } = await play(transport, [refusal(code), refusal(code), refusal(code)])
      expect((await failure(client.call('work'))).refusal).toBe(name)
      expect([code, peer.memory.calls]).toEqual([code, 1])
      expect(await client.call('work', {}, { idempotent: true })).toBe('call 4')
    }
  })

  test('what failed inside the server is given back, even if it is idempotent', async () => {
    const { client, peer } = await play(transport, [refusal(1079)])
    expect((await failure(client.call('work', {}, { idempotent: true }))).refusal).toBe('INTERNAL_ERROR')
    expect(peer.memory.calls).toBe(1)
  })

  test('a server that wants to be initialized is, on a new connection, and the call is repeated once [S2-8.5-4] [S2-13-S12]', async () => {
    for (const code of [1076, 1016, 1026]) {
      const { client, peer } = await play(transport, [refusal(code), 'silence'])
      const call = failure(client.call('work', {}, { timeout: 60_000 }))
      await expect.poll(() => peer.memory.calls).toBe(2)
      expect([code, peer.memory.opens]).toEqual([code, 2])
      await client.close()
      await call
      const twice = await play(transport, [refusal(code), refusal(code)])
      await failure(twice.client.call('work'))
      expect(twice.peer.memory).toMatchObject({ calls: 2, opens: 2 })
    }
  })

  test('without a way to authenticate again, the refusal is given back', async () => {
    const { client, peer } = await play(transport, [refusal(1012)])
    expect((await failure(client.call('work'))).refusal).toBe('AUTH_EXPIRED')
    expect(peer.memory).toMatchObject({ calls: 1, opens: 1 })
  })

  test('a server that shuts down is left for new requests, and what runs there is answered there [S2-8.5-6] [S2-13-S12]', async () => {
    const { client, peer } = await play(transport, ['silence', refusal(1077, 50)])
    const running = failure(client.call('work', {}, { timeout: 60_000 }))
    await expect.poll(() => peer.memory.calls).toBe(1)
    const begun = performance.now()
    expect(await client.call('work')).toBe('call 3')
    expect(performance.now() - begun).toBeGreaterThanOrEqual(49)
    expect(peer.memory.opens).toBe(2)
    let ended = false
    void running.then(() => (ended = true))
    await new Promise(setImmediate)
    expect(ended).toBe(false)
    await client.close()
    await running
  })

  test('with recovery: false, and when all tries are used up, the refusal is given back', async () => {
    const off = await play(transport, [refusal(1005)], { recovery: false })
    expect(await failure(off.client.call('work'))).toMatchObject({
      refusal: 'BACKPRESSURE_ACTIVE',
      retryable: true,
    })
    expect(off.peer.memory.calls).toBe(1)
    const refusals = [1001, 1002, 1003, 1004, 1005].map((code) => refusal(code))
    const some = await play(transport, refusals, { recovery: { ...FAST, tries: 3 } })
    expect((await failure(some.client.call('work'))).refusal).toBe('QUEUE_TENANT_CAP_EXCEEDED')
    expect(some.peer.memory.calls).toBe(3)
  })

  test('a wait that is longer than the caller or the option allows is not begun', async () => {
    const script = [refusal(1005, 300_000), refusal(1005, 150_000)]
    const { client, peer, waits } = await play(transport, script, { recovery: { ...FAST, longest: '200s' } })
    expect(await failure(client.call('work', {}, { timeout: 600_000 }))).toMatchObject({
      refusal: 'BACKPRESSURE_ACTIVE',
      retryAfterMs: 300_000,
    })
    expect(await failure(client.call('work', {}, { timeout: 140_000 }))).toMatchObject({
      refusal: 'BACKPRESSURE_ACTIVE',
      retryAfterMs: 150_000,
    })
    expect(waits).toEqual([])
    expect(peer.memory.calls).toBe(2)
  })

  test('silence is followed by another try only where that was asked for [S2-8.5-3] [S2-13-S12]', async () => {
    const plain = await play(transport, ['silence'])
    const options = { timeout: 150, idempotent: true }
    expect((await failure(plain.client.call('work', {}, options))).kind).toBe('timeout')
    expect(plain.peer.memory.calls).toBe(1)
    const { client, peer } = await play(transport, ['silence', 'silence'], {
      recovery: { ...FAST, timeouts: true },
    })
    expect(await client.call('work', {}, options)).toBe('call 3')
    expect(peer.memory.calls).toBe(3)
    const once = await play(transport, ['silence'], { recovery: { ...FAST, timeouts: true } })
    expect((await failure(once.client.call('work', {}, { timeout: 100 }))).kind).toBe('timeout')
    expect(once.peer.memory.calls).toBe(1)
  })

  test('closing the client, and aborting the call, end a wait at once', async () => {
    const { client, peer } = await play(transport, [refusal(1005), refusal(1005)], {
      recovery: { first: '20s' },
    })
    const stop = new AbortController()
    const stopped = failure(client.call('work', {}, { signal: stop.signal }))
    const closed = failure(client.call('work'))
    await expect.poll(() => peer.memory.calls).toBe(2)
    stop.abort()
    expect((await stopped).kind).toBe('cancelled')
    await client.close()
    await closed
    expect(peer.memory.calls).toBe(2)
  })
})

test.each(['http', 'ws'] as const)(
  'over %s, when credentials have expired others are asked for, once, and the call is repeated [S2-8.5-5] [S2-13-S12]',
  async (transport) => {
    // A connection asks for the credentials that it opens with; over HTTP every request does.
    let renewals = 0
    const auth = defineAuth({
      name: 'counter',
      open: () => ({
        async attempt(request, send) {
          const reply = await send({ authorization: `Bearer ${renewals}` })
          if (transport === 'ws') renewals++
          if (reply.status !== 401) return reply
          return send({ authorization: `Bearer ${++renewals}` })
        },
      }),
    })
    const { client, peer } = await play(transport, [refusal(1012)], { auth })
    expect(await client.call('work')).toBe('call 2')
    expect(peer.shown).toEqual(['Bearer 0', 'Bearer 1'])
    const again = await play(transport, [refusal(1012), refusal(1012)], { auth })
    expect((await failure(again.client.call('work'))).refusal).toBe('AUTH_EXPIRED')
    expect([again.peer.memory.calls, again.peer.shown.length]).toEqual([2, 2])
  },
)
