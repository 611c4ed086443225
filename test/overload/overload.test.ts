import { describe, expect, test } from 'vitest'
import { call, headed, type Headed } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { offer, saturate } from './offer.ts'
import { Program } from './program.ts'

const DEADLINE_MS = 2000

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

describe.each(['2026-07-28', '2025-11-25'])('three times what the server can do, at %s', (revision) => {
  test.each([
    ['takes the processor', 'work', 16, { waitMs: 300 }],
    ['waits for a back end', 'pool', 50, { allInFlight: 60, queued: 0 }],
    ['waits for its turn', 'pool', 50, { allInFlight: 10, waitMs: 300, queuedPerCaller: 1024 }],
  ] as const)(
    'of work that %s: some of it is done, and all the rest is told to come back [L10]',
    async (_, tool, of, limits) => {
      const program = await Program.start({ limits })
      const request = await requests(program.port, revision, tool, of)
      const options = { port: program.port, deadlineMs: DEADLINE_MS, request }
      const { goodput } = await saturate(16, { ...options, ms: 600 })
      const { ends, refused } = await offer(goodput * 3, { ...options, ms: 2000 })
      expect(ends['200']).toBeGreaterThan(0)
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
      expect(refused.length).toBeGreaterThan(20)
      expect(refused.at(-1)?.headers['retry-after']).toBe('1')
      expect(refused.at(-1)?.json).toMatchObject({
        id: expect.any(Number) as number,
        error: { code: 1005, data: { refusal: { name: 'BACKPRESSURE_ACTIVE', retryAfterMs: 1000 } } },
      })
      const after = await saturate(4, { ...options, ms: 300 })
      expect(Object.keys(after.ends)).toEqual(['200'])
      const { counts, running } = await program.state()
      expect([counts['overloaded'], running]).toEqual([refused.length, 0])
    },
  )
})
