import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ErrorKind, McpError } from '../errors/error.ts'
import { refusalRow } from '../errors/refusal.ts'
import { REFUSALS, type RefusalName } from '../protocol/refusals.ts'
import { RESERVED_REFUSALS } from '../protocol/reserved-refusals.ts'
import { Deadline } from '../rpc/deadline.ts'
import { delayOf } from '../base/backoff.ts'
import { readRecovery } from './recovery-options.ts'
import { nextStep, Recovery, type Failed, type Step } from './recovery.ts'

const PACE = { tries: 5, firstMs: 100, maxMs: 32_000, timeouts: false }
const NAMES = [...Object.keys(REFUSALS), ...Object.keys(RESERVED_REFUSALS)] as RefusalName[]

interface Case {
  readonly repeatable?: boolean
  readonly unsent?: boolean
  readonly tries?: number
  readonly waits?: number
  readonly done?: readonly Step['does'][]
}

function step(
  error: McpError,
  { repeatable = false, unsent = false, tries = 1, waits = 0, done = [] }: Case = {},
) {
  const trouble = { tries, waits, done: new Set(done) }
  return nextStep({ error, trouble, options: { repeatable }, unsent }, PACE, () => 0)
}

function refused(refusal: RefusalName, retryAfterMs?: number): McpError {
  return new McpError(
    'remote',
    'refused',
    retryAfterMs === undefined ? { refusal } : { refusal, retryAfterMs },
  )
}

function failed(kind: ErrorKind, data: Record<string, unknown> = {}): McpError {
  return new McpError(kind, 'failed', { data })
}

type Does = Step['does'] | undefined

/** Refusals that make the client try again, with its next step for any request and for an idempotent one. */
const RETRIED: Partial<Record<RefusalName, readonly [any: Does, idempotent: Does]>> = {
  QUEUE_CAP_EXCEEDED: ['wait', 'wait'],
  QUEUE_BYTE_CAP_EXCEEDED: ['wait', 'wait'],
  QUEUE_TENANT_CAP_EXCEEDED: ['wait', 'wait'],
  BUFFER_OVERFLOW: ['wait', 'wait'],
  BACKPRESSURE_ACTIVE: ['wait', 'wait'],
  AUTH_FAILED: ['authenticate', 'authenticate'],
  AUTH_EXPIRED: ['authenticate', 'authenticate'],
  AUTH_INVALID_CREDENTIALS: ['authenticate', 'authenticate'],
  AUTH_MISSING: ['authenticate', 'authenticate'],
  SESSION_INVALID: ['reopen', 'reopen'],
  INVALID_SESSION_ID: ['reopen', 'reopen'],
  RATE_LIMIT_EXCEEDED: ['wait', 'wait'],
  RATE_LIMIT_PER_SECOND: ['wait', 'wait'],
  RATE_LIMIT_PER_MINUTE: ['wait', 'wait'],
  QUOTA_EXCEEDED: ['wait', 'wait'],
  CONCURRENT_LIMIT_EXCEEDED: ['wait', 'wait'],
  TRANSPORT_ERROR: [undefined, 'wait'],
  TIMEOUT: [undefined, 'wait'],
  SERVER_UNINITIALIZED: ['reopen', 'reopen'],
  SERVER_SHUTTING_DOWN: ['move', 'move'],
  SERVICE_UNAVAILABLE: ['wait', 'wait'],
  DEPENDENCY_UNAVAILABLE: [undefined, 'wait'],
  CIRCUIT_BREAKER_OPEN: ['wait', 'wait'],
  HEALTH_CHECK_FAILED: ['wait', 'wait'],
  DEGRADED_SERVICE: ['wait', 'wait'],
  RESOURCE_EXHAUSTED: ['wait', 'wait'],
}

describe('the next step after each refusal', () => {
  test.each(NAMES)('%s leads to the step in the table [S2-13-C7] [S2-8.3-1]', (name) => {
    const any = step(refused(name))?.does
    const idempotent = step(refused(name), { repeatable: true })?.does
    expect([any, idempotent]).toEqual(RETRIED[name] ?? [undefined, undefined])
  })

  test('queue, rate and health refusals are repeated whatever they are, since nothing ran [S2-13-C7]', () => {
    const codes = [1001, 1002, 1003, 1004, 1005, 1056, 1057, 1058, 1059, 1060, 1078, 1086, 1087, 1088, 1089]
    const waited = NAMES.filter((name) => step(refused(name))?.does === 'wait')
    expect(waited.map((name) => refusalRow(name)!.code).toSorted((one, other) => one - other)).toEqual(codes)
  })
})

describe('how long', () => {
  test('waits are 100, 200, 400 ms and so on, up to 32 s [S2-8.5-1] [S2-8.5-3]', () => {
    const waits = Array.from({ length: 11 }, (_, nth) => delayOf(nth, PACE, () => 0))
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 32_000, 32_000])
  })

  test('no two clients wait equally long, and none longer than the limit', () => {
    for (let nth = 0; nth < 12; nth++) {
      const least = delayOf(nth, PACE, () => 0)
      const other = delayOf(nth, PACE, () => 0.999)
      expect(other).not.toBe(least)
      expect(Math.max(least, other)).toBeLessThanOrEqual(32_000)
    }
  })

  test('a server that says how long is waited for so long, unless that is too long', () => {
    expect(step(refused('BACKPRESSURE_ACTIVE', 1000))).toEqual({ does: 'wait', waitMs: 1000 })
    expect(step(refused('BACKPRESSURE_ACTIVE', 10), { waits: 3 })).toEqual({ does: 'wait', waitMs: 800 })
    expect(step(refused('BACKPRESSURE_ACTIVE', 32_000))?.waitMs).toBe(32_000)
    expect(step(refused('BACKPRESSURE_ACTIVE', 32_001))).toBeUndefined()
  })
})

describe('how often', () => {
  test('there are so many tries and no more', () => {
    expect(step(refused('RATE_LIMIT_EXCEEDED'), { tries: 4 })).toBeDefined()
    expect(step(refused('RATE_LIMIT_EXCEEDED'), { tries: 5 })).toBeUndefined()
  })

  test('a connection is opened anew, and credentials are renewed, once for each request [S2-8.5-4] [S2-8.5-5]', () => {
    expect(step(refused('SERVER_UNINITIALIZED'), { done: ['wait'] })?.does).toBe('reopen')
    expect(step(refused('SERVER_UNINITIALIZED'), { done: ['reopen'] })).toBeUndefined()
    expect(step(refused('AUTH_EXPIRED'), { done: ['authenticate'] })).toBeUndefined()
  })
})

describe('what has no refusal', () => {
  test('HTTP statuses: 429 was not run, 503 may have been, 401 wants credentials', () => {
    expect(step(failed('http_failed', { status: 429 }))?.does).toBe('wait')
    expect(step(failed('http_failed', { status: 503 }))).toBeUndefined()
    expect(step(failed('http_failed', { status: 503 }), { repeatable: true })?.does).toBe('wait')
    expect(step(failed('http_failed', { status: 401 }))?.does).toBe('authenticate')
    for (const status of [400, 403, 404, 500, 502, 504])
      expect([status, step(failed('http_failed', { status }), { repeatable: true })]).toEqual([
        status,
        undefined,
      ])
  })

  test('a server that cannot be reached is waited for only if it was there before', () => {
    expect(step(failed('connect_failed'), { unsent: true })).toBeUndefined()
    expect(step(failed('connect_failed'), { unsent: true, tries: 2 })?.does).toBe('wait')
    expect(step(failed('connect_failed'), { tries: 2 })).toBeUndefined()
    expect(step(failed('connect_failed', { status: 503 }), { unsent: true })?.does).toBe('wait')
    expect(step(failed('connect_failed', { status: 403 }), { unsent: true, tries: 2 })).toBeUndefined()
  })

  test('silence is the end unless tries after silence were asked for [S2-8.5-3]', () => {
    const trouble = { tries: 1, waits: 0, done: new Set<Step['does']>() }
    const silent = { error: failed('timeout'), trouble, options: { repeatable: true }, unsent: false }
    expect(nextStep(silent, PACE)).toBeUndefined()
    expect(nextStep(silent, { ...PACE, timeouts: true })?.does).toBe('wait')
    expect(nextStep({ ...silent, options: {} }, { ...PACE, timeouts: true })).toBeUndefined()
  })
})

test('the option has defaults, and what is wrong with it is said', () => {
  expect(readRecovery()).toEqual(PACE)
  expect(readRecovery(false)).toBeUndefined()
  expect(readRecovery({ tries: 2, first: '1s', longest: '1m', timeouts: true })).toEqual({
    tries: 2,
    firstMs: 1000,
    maxMs: 60_000,
    timeouts: true,
  })
  expect(() => readRecovery({ tries: 0 })).toThrow(
    'connect recovery: tries must be a whole number above 0, not 0',
  )
  expect(() => readRecovery({ first: 'soon' as never })).toThrow('connect recovery')
  expect(() => readRecovery({ try: 3 } as never)).toThrow('tries')
})

describe('between two tries', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** A request with so much time, which is refused, and what recovers from that. */
  function refuse({
    idleMs = 1000,
    totalMs = 5000,
    signal,
  }: { idleMs?: number; totalMs?: number; signal?: AbortSignal } = {}) {
    const closing = new AbortController()
    const warnings: string[] = []
    const held: number[] = []
    const recovery = new Recovery(PACE, {
      reauthenticate: undefined,
      closing: closing.signal,
      warn: (text) => void warnings.push(text),
      hold: (ms) => void held.push(ms),
    })
    const deadline = new Deadline({ method: 'tools/list', idleMs, totalMs, signal })
    const trouble: Failed['trouble'] = { tries: 1, waits: 0, done: new Set() }
    const left = vi.fn<() => void>()
    const prepare = (error: McpError): Promise<boolean> =>
      recovery.prepare({
        error,
        method: 'tools/list',
        options: {},
        deadline,
        trouble,
        unsent: false,
        leave: left,
      })
    return { prepare, deadline, trouble, closing, warnings, held, left }
  }
  const limited = (ms: number): McpError => refused('RATE_LIMIT_EXCEEDED', ms)

  test('a wait that was asked for is not counted as silence of the server', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { prepare, deadline, trouble, warnings } = refuse()
    await vi.advanceTimersByTimeAsync(700)
    const prepared = prepare(limited(900))
    await vi.advanceTimersByTimeAsync(899)
    expect(deadline.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await prepared).toBe(true)
    expect([trouble.waits, deadline.aborted]).toEqual([1, false])
    expect(warnings).toEqual(['tools/list is sent again in 900 ms (RATE_LIMIT_EXCEEDED; try 2 of 5)'])
  })

  test('a wait that the time of the request does not allow is not begun', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { prepare, trouble, warnings, left } = refuse({ totalMs: 1500 })
    expect(await prepare(limited(1000))).toBe(false)
    await vi.advanceTimersByTimeAsync(600)
    expect(await prepare(limited(900))).toBe(false)
    expect([trouble.waits, warnings, left.mock.calls]).toEqual([0, [], []])
    const prepared = prepare(limited(899))
    await vi.advanceTimersByTimeAsync(899)
    expect(await prepared).toBe(true)
  })

  test('a caller who stops waiting ends the wait at once, and so does the end of the client', async () => {
    const caller = new AbortController()
    const stopped = refuse({ signal: caller.signal })
    const first = stopped.prepare(limited(500))
    first.catch(() => undefined)
    caller.abort()
    await expect(first).rejects.toMatchObject({ kind: 'cancelled' })
    const closed = refuse()
    const second = closed.prepare(limited(500))
    closed.closing.abort()
    expect(await second).toBe(false)
    for (const { deadline } of [stopped, closed]) deadline.end()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a server that shuts down is left, and not asked again for as long as the wait', async () => {
    const { prepare, held, left, trouble } = refuse()
    const prepared = prepare(refused('SERVER_SHUTTING_DOWN', 400))
    expect(left).toHaveBeenCalledOnce()
    expect(held).toEqual([expect.toSatisfy((ms: number) => ms >= 400 && ms <= 500)])
    await vi.advanceTimersByTimeAsync(500)
    expect(await prepared).toBe(true)
    expect([...trouble.done]).toEqual(['move'])
  })
})
