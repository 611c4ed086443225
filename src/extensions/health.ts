import { toMs, type Duration } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { DURATION, object, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { CallOptions } from '../client/options.ts'
import { defineExtension, type Extension } from './define.ts'
import type { Host } from './install.ts'

export type HealthStatus = 'ok' | 'degraded' | 'unhealthy'

/** What a check may say: nothing or true when all is well, false when it is not, or more exactly how bad it is and why. */
export type HealthVerdict =
  | void
  | boolean
  | HealthStatus
  | { readonly status: HealthStatus; readonly message?: string }

/** Looks whether something that the server needs is well; one that throws says that it is not. */
export type HealthCheck = (signal: AbortSignal) => HealthVerdict | Promise<HealthVerdict>

export interface HealthOptions {
  readonly checks?: Readonly<Record<string, HealthCheck>>
  /** How long a check may take; 2 s unless given. */
  readonly timeout?: Duration
}

/** How a server is. */
export interface Health {
  /** The worst of the checks. */
  readonly status: HealthStatus
  readonly checks: Readonly<Record<string, HealthCheckResult>>
  /** How long the server has had this extension. */
  readonly uptimeMs: number
  /** How many requests it is answering. */
  readonly running: number
}

export interface HealthCheckResult {
  readonly status: HealthStatus
  readonly message?: string
  /** How long the check took. */
  readonly ms: number
}

export interface HealthApi {
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

/** How the server is, asked over the protocol: `dev.pierhead/health/status`. */
export const health: Extension<HealthApi, HealthOptions> = /* @__PURE__ */ defineExtension({
  id: 'dev.pierhead/health',
  about: 'How the server is.',
  methods: {
    status: { about: 'Runs the checks of the server and tells the worst.', result: HEALTH, idempotent: true },
  },
  serve: (options: HealthOptions | undefined, host: Host) => {
    const look = createLook(options ?? {})
    const since = performance.now()
    return {
      status: async () => {
        const checks = await look()
        const status = worst([...checks.values()].map((one) => one.status))
        const uptimeMs = Math.round(performance.now() - since)
        // The request that asks is one of those that run.
        const running = Math.max(0, host.service.load.running - 1)
        return { status, checks: Object.fromEntries(checks), uptimeMs, running }
      },
    }
  },
  client: (remote) => remote as unknown as HealthApi,
})

/** Runs all checks at once. Whoever asks meanwhile shares the answer, and a check that hangs is not begun again. */
function createLook(options: HealthOptions): () => Promise<ReadonlyMap<string, HealthCheckResult>> {
  checkOptions('health', options, OPTIONS)
  const timeoutMs = toMs(options.timeout ?? '2s', 'health timeout')
  const checks = Object.entries(options.checks ?? {}).map(([name, check]) => {
    if (typeof check !== 'function')
      throw mcpError(BAD_OPTION, { where: 'health', reason: `the check "${name}" is not a function` })
    return [name, bounded(check, timeoutMs)] as const
  })
  let looking: Promise<ReadonlyMap<string, HealthCheckResult>> | undefined
  return () =>
    (looking ??= Promise.all(checks.map(async ([name, check]) => [name, await check()] as const))
      .then((found) => new Map(found))
      .finally(() => (looking = undefined)))
}

function bounded(check: HealthCheck, timeoutMs: number): () => Promise<HealthCheckResult> {
  let hanging: Promise<unknown> | undefined
  return async () => {
    const began = performance.now()
    const done = (verdict: HealthVerdict): HealthCheckResult => {
      const { status, message } = read(verdict)
      const ms = Math.round(performance.now() - began)
      return { status, ...(message === undefined ? {} : { message }), ms }
    }
    if (hanging !== undefined)
      return done({ status: 'unhealthy', message: 'it has not come back since it was last asked' })
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

/** Why a check threw is nothing for clients. */
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
