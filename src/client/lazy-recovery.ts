import { McpError } from '../errors/error.ts'
import type { RecoverySettings } from './recovery-options.ts'
import type { Recovery, RecoveryHost } from './recovery.ts'

/** Loads the code for recovery when the first refusal arrives. */
export class LazyRecovery {
  readonly #settings: RecoverySettings | undefined
  readonly #host: RecoveryHost
  #recovery: Recovery | undefined

  /** Without settings, recovery is off. */
  constructor(settings: RecoverySettings | undefined, host: RecoveryHost) {
    this.#settings = settings
    this.#host = host
  }

  /** Returns the recovery for an error; undefined if the error is not a refusal, or recovery is off. */
  async for(error: unknown): Promise<Recovery | undefined> {
    if (this.#settings === undefined || !(error instanceof McpError)) return undefined
    if (error.refusal === undefined && error.kind !== 'http_failed') return undefined
    // Timeouts end without loading anything, which may take long if the server keeps the process busy.
    if (error.kind === 'timeout' && !this.#settings.timeouts) return undefined
    // Without a network the code may fail to load; the caller then gets the original error.
    const loaded = await import('./recovery.ts').catch(() => undefined)
    if (loaded === undefined) return undefined
    return (this.#recovery ??= new loaded.Recovery(this.#settings, this.#host))
  }
}
