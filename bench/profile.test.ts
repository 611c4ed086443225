import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { compile } from './children.ts'
import { ASYNC } from './kinds.ts'
import type { Workload } from './measure.ts'
import { QUICK } from './plans.ts'
import {
  type FunctionCost,
  type ProfileTable,
  type ProfiledProgram,
  compareProfiles,
  profileText,
} from './profile-table.ts'
import { profileWorkload } from './profile.ts'
import { http2026 } from './workloads/http.ts'
import { inProcess2025 } from './workloads/in-process.ts'
import { stdioMany } from './workloads/stdio.ts'

/** A sample of a function every 10 µs, from 1,000 on. */
function program(functions: readonly string[], more: Partial<ProfiledProgram> = {}): ProfiledProgram {
  const names = [...new Set(functions)]
  const profile = {
    startTime: 5,
    nodes: names.map((name, id) => ({
      id,
      callFrame: { functionName: name, url: name.startsWith('(') ? '' : 'node:internal', lineNumber: 6 },
    })),
    samples: functions.map((name) => names.indexOf(name)),
    timeDeltas: functions.map(() => 10),
  }
  return {
    profiles: [{ startedAt: 1000, profile }],
    spans: [{ from: 0, to: 10_000 }],
    calls: 2,
    ...more,
  }
}

describe('the table', () => {
  test('has the self time per call of both programs, the largest first', () => {
    const ours = program(['parse', 'parse', 'write', 'write', 'write', '(idle)', 'last'])
    const limit = program(['write', 'parse', 'last'], { calls: 1 })
    expect(compareProfiles('work', ours, limit).functions).toEqual([
      { name: 'write', where: 'node:internal:7', pierhead: 15, limit: 10 },
      { name: 'parse', where: 'node:internal:7', pierhead: 10, limit: 10 },
    ])
  })

  test('counts only the time in which the program was loaded', () => {
    const functions = ['early', 'called', 'called', 'late', 'late']
    const ours = program(functions, { spans: [{ from: 1020, to: 1040 }] })
    expect(compareProfiles('work', ours, ours).total).toMatchObject({ pierhead: 10, limit: 10 })
  })

  test('does not count waiting', () => {
    const ours = program(['(idle)', '(idle)', '(garbage collector)', 'last'])
    expect(compareProfiles('work', ours, ours).total).toMatchObject({ pierhead: 5, limit: 5 })
  })

  test('adds up: 25 functions and the rest are the total', () => {
    const many = Array.from({ length: 40 }, (_, index) => `f${index}`)
    const table = compareProfiles('work', program([...many, ...many, 'last']), program(many))
    expect(table.functions).toHaveLength(25)
    expect(table.rest.pierhead).toBeGreaterThan(0)
    expectSums(table)
    expect(table.total.pierhead).toBeCloseTo(400)
    expect(table.total.limit).toBeCloseTo(195)
  })

  test('shows both programs and the difference in one line per function', () => {
    const table = compareProfiles('work', program(['write', 'write', 'last']), program(['write', 'last']))
    const lines = profileText(table).split('\n')
    expect(lines[0]).toBe('work: self time in µs per call, from 2 calls of pierhead and 2 of the limit')
    expect(lines[2]).toMatch(/^ {2}write +10\.00 +5\.00 +5\.00 {2}node:internal:7$/)
    expect(lines.at(-1)).toMatch(/^ {2}total +10\.00 +5\.00 +5\.00$/)
  })
})

describe('a profile of real programs', () => {
  beforeAll(compile)

  test.each([http2026(ASYNC), stdioMany(ASYNC), inProcess2025(ASYNC)])(
    'of $name has functions of our server and of bare Node',
    async (workload) => {
      // Our subject imports the built package, which a test cannot rely on.
      vi.stubEnv('NODE_OPTIONS', '--import tsx --conditions=pierhead-source')
      onTestFinished(() => void vi.unstubAllEnvs())
      const table = await profileWorkload(workload, { ...QUICK, rounds: 2 }, () => undefined)
      expectSums(table)
      expect(table.calls.pierhead).toBeGreaterThan(0)
      expect(table.calls.limit).toBeGreaterThan(0)
      const ours = table.functions.filter(({ where }) => where.startsWith('src/'))
      expect(ours.length).toBeGreaterThan(0)
      expect(ours.map(({ limit }) => limit)).toEqual(ours.map(() => 0))
      expect(table.total.limit).toBeGreaterThan(0)
    },
  )

  test('of a workload without calls to both is an error', async () => {
    const workload: Workload = { name: 'nothing', run: () => Promise.resolve([]) }
    await expect(profileWorkload(workload, QUICK, () => undefined)).rejects.toThrow(
      'nothing has no calls to a server of pierhead, so it cannot be profiled',
    )
  })
})

function expectSums({ functions, rest, total }: ProfileTable): void {
  for (const of of ['pierhead', 'limit'] as const) {
    const sum = [...functions, rest].reduce((all, cost: FunctionCost) => all + cost[of], 0)
    expect(sum).toBeCloseTo(total[of], 6)
  }
}
