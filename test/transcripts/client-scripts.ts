import { vi } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import type { Profile } from '../../src/profiles.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Entry } from './play.ts'

/** The switches that only clients read. */
export type ClientSwitch = 'clientCapabilities' | 'resourceBlocks' | 'timeouts'

interface ClientScript {
  /** What the server answers, by method; undefined never answers. */
  readonly results: Readonly<Record<string, JsonObject>>
  act(client: Client): Promise<unknown>
}

const OPENING = {
  protocolVersion: '2025-11-25',
  capabilities: { prompts: {}, tools: {} },
  serverInfo: { name: 'script', version: '1' },
}
const MESSAGE = { role: 'user', content: { type: 'resource', resource: 'file:///notes.md' } }

/** For each switch of a client an exchange that differs between its values. */
export const CLIENT_SCRIPTS: Readonly<Record<ClientSwitch, ClientScript>> = {
  clientCapabilities: {
    results: { initialize: OPENING },
    act: async () => 'connected',
  },
  resourceBlocks: {
    results: { initialize: OPENING, 'prompts/get': { messages: [MESSAGE] } },
    act: (client) =>
      client.prompt('notes').then(
        ({ messages }) => messages,
        (error: unknown) => (error as Error).message,
      ),
  },
  timeouts: {
    results: { initialize: OPENING },
    act: async (client) => {
      const failed = client.ping().catch((error: unknown) => (error as Error).message)
      await vi.advanceTimersByTimeAsync(60_000)
      return failed
    },
  },
}

/** Runs a client against a server that answers by script, and writes down what both said and what came of it. */
export async function runClient(name: ClientSwitch, profile: Profile): Promise<readonly Entry[]> {
  const { results, act } = CLIENT_SCRIPTS[name]
  const entries: Entry[] = []
  const server = {
    connect: ({ receive }: { receive(text: string): void }) => ({
      send(text: string) {
        const message = JSON.parse(text) as { readonly id?: number; readonly method: string }
        entries.push({ client: message })
        const result = results[message.method]
        if (message.id === undefined || result === undefined) return
        const reply = { jsonrpc: '2.0', id: message.id, result }
        entries.push({ server: reply })
        queueMicrotask(() => receive(JSON.stringify(reply)))
      },
      close: () => undefined,
    }),
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const client = await connect(server, {
      profile,
      revision: '2025-11-25',
      client: { name: 'transcript', version: '1' },
      answers: { roots: [], sample: () => ({}) },
      extensions: [{ id: 'com.example/sums' }],
    })
    entries.push({ returned: await act(client) })
    await client.close()
    return entries
  } finally {
    vi.useRealTimers()
  }
}
