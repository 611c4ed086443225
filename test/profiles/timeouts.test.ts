import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connect, type Client, type LocalServer } from '../../src/client.ts'
import { erlmcp, official } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'

const PROFILES = [
  ['official', official, { openMs: 60_000, idleMs: 60_000 }],
  ['erlmcp', erlmcp, { openMs: 30_000, idleMs: 5_000 }],
] as const
const TOTAL_MS = 300_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

interface Silent {
  readonly server: LocalServer
  say(message: JsonObject): void
  /** Resolves when something was asked that is not answered. */
  readonly asked: Promise<void>
}

/** A server that answers only what it is told to, and says what a test wants. */
function silent(answered: readonly string[]): Silent {
  let ask: () => void = () => undefined
  const asked = new Promise<void>((resolve) => (ask = resolve))
  let say: (message: JsonObject) => void = () => undefined
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 's', version: '1' },
  }
  const server: LocalServer = {
    connect({ receive }) {
      say = (message) => receive(JSON.stringify({ jsonrpc: '2.0', ...message }))
      return {
        send(text) {
          const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method: string }
          if (answered.includes(method)) queueMicrotask(() => say({ id, result }))
          else if (id !== undefined) ask()
        },
        close: () => undefined,
      }
    },
  }
  return { server, say: (message) => say(message), asked }
}

/** Expects a promise to wait until so much time has passed, and to fail then. */
async function expectTimeout(
  promise: Promise<unknown>,
  asked: Promise<void>,
  ms: number,
  said: string,
): Promise<void> {
  let outcome = 'waiting'
  const settled = promise.then(
    () => (outcome = 'answered'),
    (error: Error) => (outcome = error.message),
  )
  await asked
  await vi.advanceTimersByTimeAsync(ms - 1)
  await new Promise(setImmediate)
  expect(outcome).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1)
  await settled
  expect(outcome).toBe(said)
}

async function open(profile: typeof erlmcp, server: LocalServer): Promise<Client> {
  return connect(server, { profile, revision: '2025-11-25' })
}

test.each(PROFILES)(
  'a handshake may take 60 s, and 30 s in erlmcp: %s [S2-13-S7] [S2-13-C10]',
  async (_, profile, { openMs }) => {
    const { server, asked } = silent([])
    await expectTimeout(
      open(profile, server),
      asked,
      openMs,
      `initialize was not answered within ${openMs} ms`,
    )
  },
)

test.each(PROFILES)(
  'a request may be silent for 60 s, and for 5 s in erlmcp: %s [S2-13-S7] [S2-13-C10]',
  async (_, profile, { idleMs }) => {
    const { server, asked } = silent(['initialize'])
    const client = await open(profile, server)
    await expectTimeout(client.call('any'), asked, idleMs, `tools/call was not answered within ${idleMs} ms`)
    await client.close()
  },
)

test.each(PROFILES)(
  'a request that goes on telling its progress ends after five minutes: %s [S2-13-S7] [S2-13-C10]',
  async (_, profile) => {
    const { server, say, asked } = silent(['initialize'])
    const client = await open(profile, server)
    let outcome = 'waiting'
    let steps = 0
    const onProgress = (): void => void steps++
    const call = client.call('any', {}, { onProgress })
    const settled = call.catch((error: Error) => (outcome = error.message))
    await asked
    for (let passed = 0; passed < TOTAL_MS; passed += 4_000) {
      await vi.advanceTimersByTimeAsync(passed === 0 ? 3_999 : 4_000)
      expect(outcome).toBe('waiting')
      say({ method: 'notifications/progress', params: { progressToken: 2, progress: passed + 1 } })
    }
    expect(steps).toBe(TOTAL_MS / 4_000)
    await vi.advanceTimersByTimeAsync(1)
    await settled
    expect(outcome).toBe(`tools/call was not answered within ${TOTAL_MS} ms`)
    await client.close()
  },
)
