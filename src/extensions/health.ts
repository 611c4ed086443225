import { toMs, type Duration } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { DURATION, object, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { CallOptions } from '../client/options.ts'
import { defineExtension, type Extension } from './define.ts'
import type { Host } from './install.ts'

/** The state of the server, or of something it depends on. */
export type HealthStatus = 'ok' | 'degraded' | 'unhealthy'

/** The result of a check: nothing or true if healthy, false if not, or a status with a message. */
export type HealthVerdict =
  | void
  | boolean
  | HealthStatus
  | {
      /** How well it works. */
      readonly status: HealthStatus
      /** A text for clients, without secrets. Default: none. */
      readonly message?: string | undefined
    }

/** Checks something that the server depends on; throwing means unhealthy. */
export type HealthCheck = (signal: AbortSignal) => HealthVerdict | Promise<HealthVerdict>

/** The options of `health`. */
export interface HealthOptions {
  /**
   * What the server depends on, by name. The checks run in parallel for every request. Default: none, so the status is `ok`.
   *
   * @example
   * app.extend(health({ checks: { database: (signal) => db.ping({ signal }) } }))
   */
  readonly checks?: Readonly<Record<string, HealthCheck>> | undefined
  /** The timeout of a check, after which it counts as unhealthy. Default: 2 s. */
  readonly timeout?: Duration | undefined
}

/** The health of a server. */
export interface Health {
  /** The worst result of all checks. */
  readonly status: HealthStatus
  /** The result of each check, by its name. */
  readonly checks: Readonly<Record<string, HealthCheckResult>>
  /** The milliseconds since the extension was added to the server. */
  readonly uptimeMs: number
  /** The number of requests in flight. */
  readonly running: number
}

/** The result of one check. */
export interface HealthCheckResult {
  /** How well it works; `unhealthy` if the check threw or took too long. */
  readonly status: HealthStatus
  /** Says more, if the check does. An error that a check throws is not shown to clients. */
  readonly message?: string | undefined
  /** The duration of the check in milliseconds. */
  readonly ms: number
}

/** The health of a server as a client asks for it: `health.of(client)`. */
export interface HealthApi {
  /** Runs the checks of the server and returns their results. */
  status(params?: Readonly<Record<string, never>>, options?: CallOptions): Promise<Health>
}

const OPTIONS: KindsOf<HealthOptions> = {
  checks: object<Readonly<Record<string, HealthCheck>>>('an object: checks by name'),
  timeout: DURATION,
}
const WORDS: readonly HealthStatus[] = ['ok', 'degraded', 'unhealthy']

const CHECKED = {
  type: 'object',
  properties: { status: { enum: WORDS }, message: { type: 'string' }, ms: { type: 'number' } },
  required: ['status', 'ms'],
}
const HEALTH = {
  type: 'object',
  properties: {
    status: { enum: WORDS },
    checks: { type: 'object', additionalProperties: CHECKED },
    uptimeMs: { type: 'number' },
    running: { type: 'number' },
  },
  required: ['status', 'checks', 'uptimeMs', 'running'],
}

/** Reports the health of the server over the protocol: `dev.pierhead/health/status`. */
export const health: Extension<HealthApi, HealthOptions> = /* @__PURE__ */ defineExtension({
  id: 'dev.pierhead/health',
  about: 'The health of the server.',
  methods: {
    status: {
      about: 'Runs the checks of the server and reports the worst result.',
      result: HEALTH,
      idempotent: true,
    },
  },
  serve: (options: HealthOptions | undefined, host: Host) => {
    const look = createLook(options ?? {})
    const since = performance.now()
    return {
      status: async () => {
        const checks = await look()
        const status = worst([...checks.values()].map((one) => one.status))
        const uptimeMs = Math.round(performance.now() - since)
        // Do not count the health request itself.
        const running = Math.max(0, host.service.load.running - 1)
        return { status, checks: Object.fromEntries(checks), uptimeMs, running }
      },
    }
  },
  client: (remote) => remote as unknown as HealthApi,
})

/** Runs all checks in parallel. Concurrent callers share the answer, and a check that hangs is not started again. */
function createLook(options: HealthOptions): () => Promise<ReadonlyMap<string, HealthCheckResult>> {
  checkOptions('health', options, OPTIONS)
  const timeoutMs = toMs(options.timeout ?? '2s', 'health timeout')
  const checks = Object.entries(options.checks ?? {}).map(([name, check]) => {
    if (typeof check !== 'function')
      throw mcpError(BAD_OPTION, { where: 'health', reason: `the check "${name}" is not a function` })
    return [name, withTimeout(check, timeoutMs)] as const
  })
  let looking: Promise<ReadonlyMap<string, HealthCheckResult>> | undefined
  return () =>
    (looking ??= Promise.all(checks.map(async ([name, check]) => [name, await check()] as const))
      .then((found) => new Map(found))
      .finally(() => (looking = undefined)))
}

/** Runs a check for at most `timeoutMs`, and not again while it is still running. */
function withTimeout(check: HealthCheck, timeoutMs: number): () => Promise<HealthCheckResult> {
  let hanging: Promise<unknown> | undefined
  return async () => {
    const began = performance.now()
    const done = (verdict: HealthVerdict): HealthCheckResult => {
      const { status, message } = read(verdict)
      const ms = Math.round(performance.now() - began)
      return { status, ...(message === undefined ? {} : { message }), ms }
    }
    if (hanging !== undefined)
      return done({ status: 'unhealthy', message: 'the previous run has not finished' })
    const stop = new AbortController()
    const running = run(check, stop.signal)
    hanging = running.finally(() => (hanging = undefined))
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<HealthVerdict>((resolve) => {
      timer = setTimeout(() => {
        stop.abort()
        resolve({ status: 'unhealthy', message: `it took longer than ${timeoutMs} ms` })
      }, timeoutMs)
    })
    return done(await Promise.race([running, late]).finally(() => clearTimeout(timer)))
  }
}

/** Clients do not learn why a check threw. */
async function run(check: HealthCheck, signal: AbortSignal): Promise<HealthVerdict> {
  try {
    return await check(signal)
  } catch {
    return { status: 'unhealthy', message: 'it failed' }
  }
}

function read(verdict: HealthVerdict): {
  readonly status: HealthStatus
  readonly message?: string | undefined
} {
  if (verdict === undefined || verdict === true) return { status: 'ok' }
  if (verdict === false) return { status: 'unhealthy' }
  const { status, message } =
    typeof verdict === 'object' && verdict !== null ? verdict : { status: verdict, message: undefined }
  return WORDS.includes(status) ? { status, message } : { status: 'unhealthy', message: 'it gave no verdict' }
}

function worst(found: readonly HealthStatus[]): HealthStatus {
  return WORDS[Math.max(0, ...found.map((one) => WORDS.indexOf(one)))] ?? 'ok'
}
