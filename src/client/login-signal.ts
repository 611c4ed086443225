/** Lets what belongs to the current login end with it. */
export class LoginSignal {
  #controller = new AbortController()

  /** Aborts when requests get the credentials of another login. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Another login begins. */
  renew(reason: Error): void {
    const former = this.#controller
    this.#controller = new AbortController()
    former.abort(reason)
  }
}
