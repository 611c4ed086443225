import { expect, test } from 'vitest'
import { serveEverywhere } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import { outcomesOf, prove } from './prove.ts'
import { latencyRules } from '../../src/validate/server-rules/latency.ts'
import type { Fault } from './fault.ts'

/** A clock that only a slow server moves. */
let time = 0
let asked = 0
const RULES = latencyRules(() => time)

/** A server that takes so long for some of its answers. */
function slow(ms: number, every: number, does: string): Fault {
  return {
    rule: 'V040',
    does,
    message: (message, request) => {
      if (['ping', 'server/discover'].includes(String(request?.['method'])) && ++asked % every === 0)
        time += ms
      return message
    },
  }
}

prove('latency [S1-10-8]', RULES, [slow(100, 1, 'takes 100 ms for every answer')], [], {
  latency: { p50: 10, p99: 50 },
})

test('percentiles are measured one by one, and the result shows them [S1-10-8]', async () => {
  const served = await serveEverywhere(createFixture())
  const place = {
    revision: '2025-11-25',
    transport: 'http',
    fault: slow(80, 10, 'is slow at times'),
  } as const
  try {
    const [p50] = await outcomesOf(served, RULES, { ...place, latency: { p50: 10 } })
    expect(p50).toMatchObject({ is: 'passed' })
    expect(p50?.found).toMatch(/^p50 0 ms, p95 80 ms, p99 80 ms \(\d+ requests\)$/)
    const [p95] = await outcomesOf(served, RULES, { ...place, latency: { p50: 10, p95: 79.5 } })
    expect(p95).toMatchObject({ is: 'failed' })
    expect(p95?.found).toMatch(/^p95 is above 80 ms: p50 0 ms, p95 80 ms/)
    const [tiny] = await outcomesOf(served, RULES, { ...place, latency: { p99: 0.0001 } })
    expect(tiny?.found).toMatch(/^p99 is above 0\.0001 ms: p50 0 ms/)
    const [none] = await outcomesOf(served, RULES, place)
    expect(none).toMatchObject({ is: 'passed' })
  } finally {
    await served.close()
  }
})

test('a server whose time is over before anything was measured is not checked', async () => {
  const served = await serveEverywhere(createFixture())
  // Five requests that do not count look at the clock three times each.
  let looks = 0
  const rules = latencyRules(() => (looks++ <= 15 ? 0 : 10_000))
  try {
    const place = { revision: '2025-11-25', transport: 'http', latency: { p99: 1 } } as const
    const [outcome] = await outcomesOf(served, rules, place)
    expect(outcome).toMatchObject({ is: 'unchecked' })
  } finally {
    await served.close()
  }
})
