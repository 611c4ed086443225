import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call, headed, type Headed } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { send, type Received } from '../http/wire.ts'
import { Program } from './program.ts'

/** More than enough clients to overload each of the servers below, however fast the machine is. */
const CLIENTS = 180

/** Requests of one revision for a tool. */
async function requests(
  port: number,
  revision: string,
  name: string,
  of: number,
): Promise<(id: number) => Headed> {
  if (revision === '2026-07-28') return (id) => headed('tools/call', { name, arguments: { of } }, id)
  const { headers } = await open(port, revision)
  return (id) => ({ body: call(name, { of }, id + 2), headers })
}

/** Every client sends one request after another until 20 were served and 60 refused. Returns the refusals. */
async function crowd(port: number, request: (id: number) => Headed): Promise<readonly Received[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const refused: Received[] = []
  let served = 0
  let id = 0
  const client = async (): Promise<void> => {
    while (served < 20 || refused.length < 60) {
      const reply = await send(port, { ...request(id++), agent })
      if (reply.status === 200) served++
      else refused.push(reply)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  agent.destroy()
  return refused
}

describe.each(['2026-07-28', '2025-11-25'])('more clients than the server can serve, at %s', (revision) => {
  test.each([
    ['takes the processor', 'work', 16, { waitMs: 300 }],
    ['waits for a back end', 'pool', 50, { allInFlight: 60, queued: 0 }],
    ['waits for its turn', 'pool', 50, { allInFlight: 10, waitMs: 300, queuedPerCaller: 1024 }],
  ] as const)(
    'with work that %s: some of it is done, and the rest gets 503 with Retry-After [L10]',
    async (_, tool, of, limits) => {
      const program = await Program.start({ limits })
      const request = await requests(program.port, revision, tool, of)
      const refused = await crowd(program.port, request)
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
      expect(new Set(refused.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['1']))
      for (const { json } of refused)
        expect(json).toMatchObject({
          id: expect.any(Number) as number,
          error: { code: 1005, data: { refusal: { name: 'BACKPRESSURE_ACTIVE', retryAfterMs: 1000 } } },
        })
      const { counts, running } = await program.state()
      expect([counts['overloaded'], running]).toEqual([refused.length, 0])
      for (let id = 0; id < 5; id++) expect((await send(program.port, request(id))).status).toBe(200)
    },
    120_000,
  )
})
