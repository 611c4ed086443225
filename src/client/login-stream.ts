import { onAbort } from '../base/on-abort.ts'
import type { LoginSignal } from './login-signal.ts'

/** Ends a stream with the login that its latest attempt has: the login may change while a connection is opened for it. */
export class LoginStream {
  readonly #login: LoginSignal
  readonly #stop = new AbortController()
  #remove: (() => void) | undefined
  /** Aborts when the login has changed. */
  readonly signal: AbortSignal = this.#stop.signal

  constructor(login: LoginSignal) {
    this.#login = login
  }

  /** An attempt is sent. */
  begin(): void {
    this.end()
    const { signal } = this.#login
    this.#remove = onAbort(signal, () => this.#stop.abort(signal.reason))
  }

  /** The stream is over. */
  end(): void {
    this.#remove?.()
  }
}
