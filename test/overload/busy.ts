import { expect } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { createServer } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import type { Load } from '../../src/rpc/load.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { open, type Client } from '../harness/client.ts'
import type { AnyApp, Transport } from '../harness/connection.ts'
import { until } from '../hostile/peer.ts'
import { Gate } from '../http/server.ts'

export const OFTEN: { readonly interval: number } = { interval: 2 }

/** A server that answers one request at a time, and is busy with one of the first client. */
export class Busy {
  readonly gate: Gate = new Gate()
  /** The requests that began, in their order. */
  readonly begun: string[] = []
  readonly clients: Client[] = []
  readonly app: AnyApp
  /** The answers to what was queued. */
  readonly answers: Promise<unknown>[] = []

  constructor(limits: Partial<Limits>) {
    this.app = createServer({ name: 'busy', version: '1', limits: { allInFlight: 1, ...limits } }).tool(
      'wait',
      { input: { type: 'object' } },
      async (input) => {
        this.begun.push(String((input as { name?: unknown }).name))
        await this.gate.opened
        return 'waited'
      },
    ) as AnyApp
  }

  static async start(
    [transport, revision]: readonly [Transport, Revision],
    limits: Partial<Limits>,
  ): Promise<Busy> {
    const busy = new Busy(limits)
    for (let count = 0; count < 3; count++) busy.clients.push(await open(busy.app, { transport, revision }))
    busy.answers.push(busy.client(0).call('wait', { name: 'first' }))
    await until(() => busy.load.running === 1)
    return busy
  }

  get load(): Load {
    return serviceOf(this.app).load
  }

  client(which: number): Client {
    return this.clients[which] as Client
  }
}

/** One more request waits. */
export async function expectQueued(busy: Busy, which: number, name: string): Promise<void> {
  const before = busy.load.waiting
  busy.answers.push(busy.client(which).call('wait', { name }))
  await expect.poll(() => busy.load.waiting, OFTEN).toBe(before + 1)
}

/** One more request is refused with a code. */
export async function expectRefused(busy: Busy, which: number, code: number, text = ''): Promise<void> {
  const refused = busy.client(which).call('wait', { name: 'refused', text })
  await expect(refused).rejects.toMatchObject({ code, data: { refusal: { code, retryAfterMs: 1000 } } })
}

/** Everything that waits is answered, and the server is as before. */
export async function expectFinished(busy: Busy): Promise<void> {
  busy.gate.open()
  for (const answer of await Promise.all(busy.answers)) expect(answer).toMatchObject({ isError: false })
  expect([busy.load.waiting, busy.load.running]).toEqual([0, 0])
  expect(await busy.client(0).call('wait', { name: 'after' })).toMatchObject({ isError: false })
  await Promise.all(busy.clients.map((client) => client.close()))
}
