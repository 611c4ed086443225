import { describe, expect, test } from 'vitest'
import { Answers } from './answers.ts'
import { CALL_ROWS, nameOf } from './call-rows.ts'
import { GOALS, judge, needsProfile } from './goals.ts'
import { type Costs, growthSamples } from './growths.ts'
import { type Row, type Sample, increase, increasePercent, toRows } from './measure.ts'
import { FIRST_ID, numbered } from './messages.ts'
import { better, isLost, ratiosOf, tallyOf, verdictOf } from './regressions.ts'
import { LIMIT, OURS, type Subject, V2 } from './subjects.ts'
import { sessionGrowthWork } from './workloads/sessions.ts'
import { SHORT_WORKLOADS, WORKLOADS } from './workloads.ts'

const CALLS = 'HTTP tools/call, 2026-07-28'
const EVENTS = 'HTTP tools/call answered as SSE with one progress event'
const ASYNC_TITLES = [', async handler', ', async handler that awaits a socket']
const LISTS = 'HTTP tools/list, 100 tools of ten fields'

describe('goals', () => {
  test('a ratio to bare Node below its goal is not met', () => {
    expect(goalsOf(rowsOf(CALLS, [100, 89]))).toEqual([{ goal: '≥ 0.9 × limit', found: 0.89, met: false }])
    expect(goalsOf(rowsOf(CALLS, [100, 90]))).toMatchObject([{ met: true }])
  })

  test('a goal that compares with a peer is omitted if the peer was not measured', () => {
    expect(goalsOf(rowsOf(LISTS, [100, 60]))).toMatchObject([{ goal: '≥ 0.5 × limit', met: true }])
    expect(goalsOf(rowsOf(LISTS, [100, 60, 2]))).toMatchObject([
      { goal: '≥ 0.5 × limit', met: true },
      { goal: '≥ 50 × official v2', found: 30, met: false },
    ])
  })

  test('a goal with two bounds is met by either', () => {
    const work = 'in process tools/call in batches of ten, 2025-03-26'
    const met = (limit: number, ours: number): unknown => goalsOf(rowsOf(work, [limit, ours], 'msg/s'))
    expect(met(900_000, 269_000)).toMatchObject([{ met: true }])
    expect(met(400_000, 240_000)).toMatchObject([{ met: true }])
    expect(met(900_000, 268_999)).toMatchObject([{ met: false }])
  })

  test.each([
    ['HTTP tools/call, 2025-11-25 session', ['', ', content object'], 'req/s', 0.9, 1.5],
    ['HTTP tools/call, 2025-11-25 session', ASYNC_TITLES, 'req/s', 0.85, 1.5],
    ['HTTP tools/call, 2026-07-28', ['', ', content object'], 'req/s', 0.9, 1.5],
    ['HTTP tools/call, 2026-07-28', ASYNC_TITLES, 'req/s', 0.85, 1.5],
    [`${EVENTS}, 2025-11-25 session`, [''], 'req/s', 0.8, undefined],
    [`${EVENTS}, 2025-11-25 session`, [', async handler'], 'req/s', 0.75, 1.5],
    [`${EVENTS}, 2026-07-28`, [''], 'req/s', 0.8, undefined],
    [`${EVENTS}, 2026-07-28`, [', async handler'], 'req/s', 0.75, 1.5],
    ['in process tools/call, 2025-11-25', ['', ', content object'], 'msg/s', 0.75, undefined],
    ['in process tools/call, 2025-11-25', ASYNC_TITLES, 'msg/s', 0.65, undefined],
    ['in process tools/call, 2026-07-28', ['', ', content object'], 'msg/s', 0.75, undefined],
    ['in process tools/call, 2026-07-28', ASYNC_TITLES, 'msg/s', 0.65, undefined],
    ['stdio tools/call, 128 in flight', ['', ', content object'], 'msg/s', 0.9, undefined],
    ['stdio tools/call, 128 in flight', ASYNC_TITLES, 'msg/s', 0.85, undefined],
  ] as const)(
    'the goals of %s with the handlers %j are %s ≥ %d and p99 ≤ %s',
    (title, kinds, unit, least, most) => {
      for (const kind of kinds) {
        const work = `${title}${kind}`
        const rate = { work, unit, of: 'limit', least }
        const p99 = { work, unit: 'µs p99', of: 'limit', most }
        expect(GOALS.filter((goal) => goal.work === work)).toEqual(most === undefined ? [rate] : [rate, p99])
      }
    },
  )

  test('every workload with several kinds of handlers is run with all of them', () => {
    const names = WORKLOADS.map(({ name }) => name)
    for (const row of Object.values(CALL_ROWS))
      for (const kind of row.kinds) expect(names).toContain(nameOf(row, kind))
    expect(new Set(names).size).toBe(names.length)
  })

  test('a short run includes async handlers over HTTP, on stdio and in process', () => {
    const names = SHORT_WORKLOADS.map(({ name }) => name).filter((name) => name.endsWith('-async'))
    expect(names.toSorted()).toEqual([
      'http-2026-async',
      'http-session-async',
      'in-process-2026-async',
      'in-process-async',
      'stdio-128-async',
    ])
  })

  test('a workload that misses a goal is profiled if the limit was loaded in the same way', () => {
    expect(needsProfile(judge(rowsOf(CALLS, [100, 89])))).toBe(true)
    expect(needsProfile(judge(rowsOf(CALLS, [100, 90])))).toBe(false)
    const latency = 'latency over HTTP at 10 % load'
    const missed = judge(rowsOf(latency, [90, 120], 'µs p50'))
    expect(missed.some(({ goals = [] }) => goals.some(({ met }) => !met))).toBe(true)
    expect(needsProfile(missed)).toBe(false)
  })

  test('the growth of tasks is compared with that of a bare map or table', () => {
    const work = 'tasks/get, what it costs more with many tasks than with few, in memory'
    expect(goalsOf(rowsOf(work, [20, 25], '%'))).toEqual([{ goal: '≤ 5 % above limit', found: 5, met: true }])
    expect(goalsOf(rowsOf(work, [20, 25.1], '%'))).toMatchObject([{ met: false }])
  })

  test.each(['in memory', 'in Redis'] as const)(
    'the growth of sessions %s is compared in the same way',
    (place) => {
      const rows = rowsOf(sessionGrowthWork(place), [20, 25], '%')
      expect(goalsOf(rows)).toEqual([{ goal: '≤ 5 % above limit', found: 5, met: true }])
    },
  )

  test('growths in percent are parts of what our server takes with few', () => {
    const costs = (subject: Subject, each: readonly number[]): Costs => ({ subject, each, busy: false })
    const measured = [
      costs(LIMIT, [4, 5]),
      costs(OURS, [10, 10]),
      costs(LIMIT, [5, 6]),
      costs(OURS, [12, 12]),
    ]
    const found = growthSamples('calls', measured).map(({ subject, value, unit }) => [subject, value, unit])
    expect(found).toEqual([
      [LIMIT, 1, 'µs CPU'],
      [LIMIT, 10, '%'],
      [OURS, 2, 'µs CPU'],
      [OURS, 20, '%'],
    ])
  })

  test('goals are unique', () => {
    const names = GOALS.map(({ work, unit, of, subject }) => [work, unit, of, subject].join())
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('the comparison with the record', () => {
  test('a ratio is lost below 70 % of the recorded one, whether more or less is better', () => {
    const lost = (now: readonly Row[], record: readonly Row[]): readonly boolean[] =>
      ratiosOf(now, record).map(isLost)
    expect(lost(rowsOf(CALLS, [100, 56]), rowsOf(CALLS, [100, 80]))).toEqual([false])
    expect(lost(rowsOf(CALLS, [100, 55]), rowsOf(CALLS, [100, 80]))).toEqual([true])
    expect(lost(rowsOf(CALLS, [10, 20], 'ms'), rowsOf(CALLS, [100, 150], 'ms'))).toEqual([false])
    expect(lost(rowsOf(CALLS, [10, 22], 'ms'), rowsOf(CALLS, [100, 150], 'ms'))).toEqual([true])
  })

  test('the speed of the machine does not matter', () => {
    expect(ratiosOf(rowsOf(CALLS, [10, 9]), rowsOf(CALLS, [1000, 900]))).toMatchObject([
      { now: 0.9, recorded: 0.9 },
    ])
  })

  test('a recorded ratio beyond the limit counts as the limit itself', () => {
    const verdicts = (ours: number): unknown =>
      ratiosOf(rowsOf(CALLS, [100, ours]), rowsOf(CALLS, [100, 205])).map(verdictOf)
    expect(verdicts(70)).toEqual(['kept'])
    expect(verdicts(69)).toEqual(['LOST'])
    expect(ratiosOf(rowsOf(CALLS, [100, 90]), rowsOf(CALLS, [100, 205]))).toMatchObject([{ recorded: 2.05 }])
  })

  test('costs increase by the largest median of the differences of a round', () => {
    const few = [10, 20, 10]
    expect(increase([few, [11, 21, 10], [12, 23, 11]])).toBe(2)
  })

  test('the better of two measurements counts', () => {
    const ratio = { name: 'one', now: 0.2, recorded: 0.8, busy: false }
    expect(better([ratio], [{ ...ratio, now: 0.7 }])).toEqual([{ ...ratio, now: 0.7 }])
    expect(better([ratio], [{ ...ratio, now: 0.1 }])).toEqual([ratio])
  })

  test('an empty record, or one that has the work but not our row, is an error', () => {
    const now = rowsOf(CALLS, [100, 56])
    expect(() => ratiosOf(now, [])).toThrow('the record is empty')
    expect(() => ratiosOf(now, rowsOf(CALLS, [100]))).toThrow(
      `the record has no ratio for ${CALLS} (req/s), ${OURS.name}`,
    )
  })

  test('a ratio of work that was never recorded is new: neither kept nor lost', () => {
    const ratios = ratiosOf(rowsOf(CALLS, [100, 1]), rowsOf(LISTS, [100, 80]))
    expect(ratios.map(verdictOf)).toEqual(['new'])
    expect(ratios).toMatchObject([{ now: 0.01 }])
  })

  test('a run that could judge nothing fails', () => {
    const [lost, kept, fresh] = [
      { name: 'one', now: 0.1, recorded: 0.9, busy: false },
      { name: 'two', now: 0.9, recorded: 0.9, busy: false },
      { name: 'three', now: 0.9, recorded: undefined, busy: false },
    ]
    expect(tallyOf([kept!, fresh!])).toEqual({ passed: 1, failed: 0, unjudged: 1 })
    expect(tallyOf([kept!, lost!])).toEqual({ passed: 1, failed: 1, unjudged: 0 })
    expect(tallyOf([fresh!])).toEqual({ passed: 0, failed: 1, unjudged: 1 })
  })

  test('a ratio is marked as busy if our row or that of the limit is', () => {
    const record = rowsOf(CALLS, [100, 80])
    const busy = (limit: boolean, ours: boolean): unknown =>
      ratiosOf(rowsOf(CALLS, [100, 80], 'req/s', [limit, ours]), record).map((ratio) => ratio.busy)
    expect(busy(false, false)).toEqual([false])
    expect(busy(true, false)).toEqual([true])
    expect(busy(false, true)).toEqual([true])
  })

  test('a workload that measures no ratio is an error', () => {
    expect(() => ratiosOf([], rowsOf(CALLS, [100, 80]))).toThrow('no ratio to bare Node was measured')
    expect(() => ratiosOf(rowsOf(CALLS, [100]), rowsOf(CALLS, [100, 80]))).toThrow('no ratio')
  })
})

test('an increase is the median of the rounds, so that one disturbed round does not matter', () => {
  expect(
    increasePercent([
      [10, 10, 10],
      [10, 10, 90],
      [10.5, 10.5, 10.5],
    ]),
  ).toBeCloseTo(5)
})

describe('answers', () => {
  test('an answer with a wrong sum, or one that arrives twice, is rejected', () => {
    const answers = new Answers(10)
    for (const index of [0, 1, 2]) answers.expect(index)
    answers.take(answerText(0), 0, answerText(0).length)
    answers.take(answerText(1), 0, answerText(1).length)
    expect(() => answers.take(answerText(1), 0, answerText(1).length)).toThrow('wrong answer')
    const other = answerText(2, 1)
    expect(() => answers.take(other, 0, other.length)).toThrow('wrong answer')
  })

  test('every answer of a batch is checked', () => {
    const answers = new Answers(30)
    for (let index = 0; index < 30; index++) answers.expect(index)
    answers.takeBatch(`[${answerText(0)},${answerText(1)}]`, 2)
    answers.takeBatch(`[${answerText(3)},${answerText(2)}]`, 2)
    expect(() => answers.takeBatch(`[${answerText(4)},${answerText(5, 1)}]`, 2)).toThrow('wrong answer')
    expect(() => answers.takeBatch(`[${answerText(6)}]`, 2)).toThrow('wrong answer')
  })
})

function rowsOf(
  work: string,
  values: readonly number[],
  unit = 'req/s',
  busy: readonly boolean[] = [],
): readonly Row[] {
  const better = unit.endsWith('/s') ? 'more' : 'less'
  const samples = values.map((value, place): Sample => {
    const subject = [LIMIT, OURS, V2][place] ?? V2
    return { work, subject, value, unit, better, busy: busy[place] ?? false }
  })
  return toRows(samples)
}

function goalsOf(rows: readonly Row[]): Row['goals'] {
  return judge(rows).find(({ subject }) => subject === OURS.name)?.goals
}

function answerText(index: number, wrongBy = 0): string {
  const { a, b } = numbered(index)
  const content = [{ type: 'text', text: String(a + b + wrongBy) }]
  return JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID + index, result: { content } })
}
