import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { open, type Client } from '../harness/client.ts'
import { closeListeners } from '../harness/connection-http.ts'
import type { Transport } from '../harness/connection.ts'

const CLIENTS = 1000
const WAYS: readonly [Transport, Revision][] = [
  ['http', '2025-11-25'],
  ['http', '2026-07-28'],
  ['memory', '2025-06-18'],
  ['http', '2025-03-26'],
  ['memory', '2026-07-28'],
  ['stdio', '2024-11-05'],
]

/** Holds every call until all have come, then lets them go in an order of its own. */
function createGate(expected: number): { wait(): Promise<void>; readonly most: number } {
  let held: (() => void)[] = []
  let most = 0
  return {
    wait: () =>
      new Promise((resolve) => {
        held.push(resolve)
        most = Math.max(most, held.length)
        if (held.length < expected) return
        const all = held
        held = []
        for (let at = 0; at < all.length; at++) all[(at * 367) % all.length]!()
      }),
    get most() {
      return most
    },
  }
}

afterAll(() => closeListeners())

test('a thousand interleaved clients with equal ids each get their own answers [S3-9-9] [S2-15-1] [R005] [R101] [R190]', async () => {
  const gate = createGate(CLIENTS)
  const app = createServer({ name: 'crowd', version: '1' }).tool(
    'mine',
    { input: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] } },
    async ({ token }, { progress, client }) => {
      await gate.wait()
      progress(1, 1, token)
      return `${token} for ${client.info?.name}`
    },
  )
  const clients: Client[] = []
  for (let at = 0; at < CLIENTS; at++) {
    const [transport, revision] = WAYS[at % WAYS.length]!
    clients.push(await open(app, { transport, revision, clientInfo: { name: `client-${at}`, version: '1' } }))
  }
  for (const round of ['first', 'second']) {
    const answers = await Promise.all(
      clients.map((client, at) =>
        client.call(
          'mine',
          { token: `${round}-${at}` },
          { id: `same-${round}`, meta: { progressToken: 'same' } },
        ),
      ),
    )
    for (const [at, { content }] of answers.entries()) {
      expect(content).toEqual([{ type: 'text', text: `${round}-${at} for client-${at}` }])
    }
  }
  expect(gate.most).toBe(CLIENTS)
  for (const [at, client] of clients.entries()) {
    const told = client.heard('notifications/progress').map(({ message }) => message)
    expect(told).toEqual(
      client.revision === '2024-11-05' ? [undefined, undefined] : [`first-${at}`, `second-${at}`],
    )
    expect(REVISIONS).toContain(client.revision)
  }
  await Promise.all(clients.map((client) => client.close()))
})
