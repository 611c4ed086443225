import { McpError } from '../errors/error.ts'
import type { RecoveryPace } from './recovery-options.ts'
import type { Recovery, RecoveryHost } from './recovery.ts'

/** Recovers from refusals with code that is loaded when the first one arrives. */
export class LazyRecovery {
  readonly #pace: RecoveryPace | undefined
  readonly #host: RecoveryHost
  #recovery: Recovery | undefined

  /** Without a pace nothing is recovered. */
  constructor(pace: RecoveryPace | undefined, host: RecoveryHost) {
    this.#pace = pace
    this.#host = host
  }

  /** The recovery for an error; undefined when the error is not a refusal, or recovery is off. */
  async for(error: unknown): Promise<Recovery | undefined> {
    if (this.#pace === undefined || !(error instanceof McpError)) return undefined
    if (error.refusal === undefined && error.kind !== 'http_failed') return undefined
    // Without a network the code may be unavailable; then the error speaks for itself.
    const loaded = await import('./recovery.ts').catch(() => undefined)
    if (loaded === undefined) return undefined
    return (this.#recovery ??= new loaded.Recovery(this.#pace, this.#host))
  }
}
