import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ErrorKind, McpError } from '../errors/error.ts'
import { refusalRow } from '../errors/refusal.ts'
import { REFUSALS, type RefusalName } from '../protocol/refusals.ts'
import { RESERVED_REFUSALS } from '../protocol/reserved-refusals.ts'
import { Deadline } from '../rpc/deadline.ts'
import { delayOf } from '../base/backoff.ts'
import { readRecovery } from './recovery-options.ts'
import { nextStep, Recovery, type FailedAttempt, type Step } from './recovery.ts'

const SETTINGS = { tries: 5, firstMs: 100, maxMs: 32_000, timeouts: false }
const NAMES = [...Object.keys(REFUSALS), ...Object.keys(RESERVED_REFUSALS)] as RefusalName[]

interface Case {
  readonly repeatable?: boolean
  readonly unsent?: boolean
  readonly tries?: number
  readonly redirects?: number
  readonly waits?: number
  readonly done?: readonly Step['action'][]
  readonly renews?: boolean
}

function step(
  error: McpError,
  {
    repeatable = false,
    unsent = false,
    tries = 1,
    redirects = 0,
    waits = 0,
    done = [],
    renews = false,
  }: Case = {},
) {
  const history = { tries, redirects, waits, done: new Set(done) }
  return nextStep({ error, history, options: { repeatable }, unsent }, SETTINGS, renews, () => 0)
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

type Action = Step['action'] | undefined

/** Refusals that make the client try again, with its next step for any request and for an idempotent one. */
const RETRIED: Partial<Record<RefusalName, readonly [any: Action, idempotent: Action]>> = {
  QUEUE_CAP_EXCEEDED: ['wait', 'wait'],
  QUEUE_BYTE_CAP_EXCEEDED: ['wait', 'wait'],
  QUEUE_TENANT_CAP_EXCEEDED: ['wait', 'wait'],
  BUFFER_OVERFLOW: ['wait', 'wait'],
  BACKPRESSURE_ACTIVE: ['wait', 'wait'],
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
    const any = step(refused(name))?.action
    const idempotent = step(refused(name), { repeatable: true })?.action
    expect([any, idempotent]).toEqual(RETRIED[name] ?? [undefined, undefined])
  })

  test('requests are retried after queue, rate and health refusals even if not idempotent, since nothing ran [S2-13-C7]', () => {
    const codes = [1001, 1002, 1003, 1004, 1005, 1056, 1057, 1058, 1059, 1060, 1078, 1086, 1087, 1088, 1089]
    const waited = NAMES.filter((name) => step(refused(name))?.action === 'wait')
    expect(waited.map((name) => refusalRow(name)!.code).toSorted((one, other) => one - other)).toEqual(codes)
  })
})

describe('rejected credentials', () => {
  const AUTH = ['AUTH_FAILED', 'AUTH_EXPIRED', 'AUTH_INVALID_CREDENTIALS', 'AUTH_MISSING'] as const

  test.each(AUTH)('%s leads to a new connection, once, if that brings other credentials', (name) => {
    expect(step(refused(name), { renews: true })?.action).toBe('reopen')
    expect(step(refused(name), { renews: true, done: ['reopen'] })).toBeUndefined()
    expect(step(refused(name), { renews: true, unsent: true })).toBeUndefined()
    expect(step(refused(name))).toBeUndefined()
  })

  test('over HTTP they are final, since requests renew them themselves', () => {
    const [bare, named] = [
      failed('http_failed', { status: 401 }),
      new McpError('http_failed', 'expired', { data: { status: 401 }, refusal: 'AUTH_EXPIRED' }),
    ]
    for (const error of [bare, named, failed('connect_failed', { status: 401 })])
      expect(step(error, { renews: error.kind === 'http_failed', repeatable: true })).toBeUndefined()
    expect(step(failed('connect_failed', { status: 401 }), { renews: true, unsent: true })).toBeUndefined()
  })
})

describe('the wait before a retry', () => {
  test('is 100, 200, 400 ms and so on, up to 32 s [S2-8.5-1] [S2-8.5-3]', () => {
    const waits = Array.from({ length: 11 }, (_, nth) => delayOf(nth, SETTINGS, () => 0))
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 32_000, 32_000])
  })

  test('differs between clients, and never exceeds the limit', () => {
    for (let nth = 0; nth < 12; nth++) {
      const least = delayOf(nth, SETTINGS, () => 0)
      const other = delayOf(nth, SETTINGS, () => 0.999)
      expect(other).not.toBe(least)
      expect(Math.max(least, other)).toBeLessThanOrEqual(32_000)
    }
  })

  test('is at least as long as the server asks; if that is too long, there is no retry', () => {
    expect(step(refused('BACKPRESSURE_ACTIVE', 1000))).toEqual({ action: 'wait', waitMs: 1000 })
    expect(step(refused('BACKPRESSURE_ACTIVE', 10), { waits: 3 })).toEqual({ action: 'wait', waitMs: 800 })
    expect(step(refused('BACKPRESSURE_ACTIVE', 32_000))?.waitMs).toBe(32_000)
    expect(step(refused('BACKPRESSURE_ACTIVE', 32_001))).toBeUndefined()
  })
})

describe('the number of retries', () => {
  test('is limited', () => {
    expect(step(refused('RATE_LIMIT_EXCEEDED'), { tries: 4 })).toBeDefined()
    expect(step(refused('RATE_LIMIT_EXCEEDED'), { tries: 5 })).toBeUndefined()
  })

  test('does not count the connections to a node that stops, as long as there may be such connections', () => {
    const stopping = refused('SERVICE_UNAVAILABLE', 100)
    expect(step(stopping, { tries: 5, redirects: 31 })).toEqual({ action: 'wait', waitMs: 100 })
    expect(step(stopping, { tries: 5, redirects: 32 })).toBeUndefined()
    expect(step(refused('SERVICE_UNAVAILABLE', 101), { tries: 5 })).toBeUndefined()
  })

  test('a request reopens the connection once [S2-8.5-4]', () => {
    expect(step(refused('SERVER_UNINITIALIZED'), { done: ['wait'] })?.action).toBe('reopen')
    expect(step(refused('SERVER_UNINITIALIZED'), { done: ['reopen'] })).toBeUndefined()
  })
})

describe('errors without a refusal', () => {
  test('HTTP statuses: 429 did not run, 502, 503 and 504 may have run, others are final', () => {
    expect(step(failed('http_failed', { status: 429 }))?.action).toBe('wait')
    for (const status of [502, 503, 504]) {
      expect(step(failed('http_failed', { status }))).toBeUndefined()
      expect(step(failed('http_failed', { status }), { repeatable: true })?.action).toBe('wait')
    }
    for (const status of [400, 401, 403, 404, 500, 501])
      expect([status, step(failed('http_failed', { status }), { repeatable: true })]).toEqual([
        status,
        undefined,
      ])
  })

  test('the client waits for an unreachable server only if it was reachable before', () => {
    expect(step(failed('connect_failed'), { unsent: true })).toBeUndefined()
    expect(step(failed('connect_failed'), { unsent: true, tries: 2 })?.action).toBe('wait')
    expect(step(failed('connect_failed'), { tries: 2 })).toBeUndefined()
    expect(step(failed('connect_failed', { status: 503 }), { unsent: true })?.action).toBe('wait')
    expect(step(failed('connect_failed', { status: 403 }), { unsent: true, tries: 2 })).toBeUndefined()
  })

  test('a timeout is not retried unless the option asks for it [S2-8.5-3]', () => {
    const history = { tries: 1, redirects: 0, waits: 0, done: new Set<Step['action']>() }
    const silent = { error: failed('timeout'), history, options: { repeatable: true }, unsent: false }
    expect(nextStep(silent, SETTINGS, false)).toBeUndefined()
    expect(nextStep(silent, { ...SETTINGS, timeouts: true }, false)?.action).toBe('wait')
    expect(nextStep({ ...silent, options: {} }, { ...SETTINGS, timeouts: true }, false)).toBeUndefined()
  })
})

test('the option has defaults, and errors say what is wrong', () => {
  expect(readRecovery()).toEqual(SETTINGS)
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

describe('between two attempts', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** A request with these timeouts that was refused, and its recovery. */
  function refuse({
    idleMs = 1000,
    totalMs = 5000,
    signal,
  }: { idleMs?: number; totalMs?: number; signal?: AbortSignal } = {}) {
    const closing = new AbortController()
    const warnings: string[] = []
    const held: number[] = []
    const recovery = new Recovery(SETTINGS, {
      renews: false,
      closing: closing.signal,
      warn: (text) => void warnings.push(text),
      holdOff: (ms) => void held.push(ms),
    })
    const deadline = new Deadline({ method: 'tools/list', idleMs, totalMs, signal })
    const history: FailedAttempt['history'] = { tries: 1, redirects: 0, waits: 0, done: new Set() }
    const retire = vi.fn<() => void>()
    const prepare = (error: McpError): Promise<boolean> =>
      recovery.prepare({
        error,
        method: 'tools/list',
        options: {},
        deadline,
        history,
        unsent: false,
        retire,
      })
    return { prepare, deadline, history, closing, warnings, held, retire }
  }
  const limited = (ms: number): McpError => refused('RATE_LIMIT_EXCEEDED', ms)

  test('a wait does not count towards the idle timeout', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { prepare, deadline, history, warnings } = refuse()
    await vi.advanceTimersByTimeAsync(700)
    const prepared = prepare(limited(900))
    await vi.advanceTimersByTimeAsync(899)
    expect(deadline.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await prepared).toBe(true)
    expect([history.waits, deadline.aborted]).toEqual([1, false])
    expect(warnings).toEqual(['retrying tools/list in 900 ms (RATE_LIMIT_EXCEEDED; try 2 of 5)'])
  })

  test('a request that another node serves is repeated without counting as a try', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { prepare, history } = refuse()
    const prepared = prepare(refused('SERVICE_UNAVAILABLE', 100))
    await vi.advanceTimersByTimeAsync(100)
    expect(await prepared).toBe(true)
    expect(history).toMatchObject({ tries: 0, redirects: 1, waits: 0 })
  })

  test('a wait that would exceed the total timeout does not start', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { prepare, history, warnings, retire } = refuse({ totalMs: 1500 })
    expect(await prepare(limited(1000))).toBe(false)
    await vi.advanceTimersByTimeAsync(600)
    expect(await prepare(limited(900))).toBe(false)
    expect([history.waits, warnings, retire.mock.calls]).toEqual([0, [], []])
    const prepared = prepare(limited(899))
    await vi.advanceTimersByTimeAsync(899)
    expect(await prepared).toBe(true)
  })

  test('the wait ends at once if the caller aborts or the client closes', async () => {
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

  test('when a server shuts down, its connection is retired and the next one is delayed', async () => {
    const { prepare, held, retire, history } = refuse()
    const prepared = prepare(refused('SERVER_SHUTTING_DOWN', 400))
    expect(retire).toHaveBeenCalledOnce()
    expect(held).toEqual([expect.toSatisfy((ms: number) => ms >= 400 && ms <= 500)])
    await vi.advanceTimersByTimeAsync(500)
    expect(await prepared).toBe(true)
    expect([...history.done]).toEqual(['move'])
  })
})
