/** Calls functions when tasks change, by the id of the task. */
export class Followers {
  readonly #byId = new Map<string, Set<() => void>>()

  /** The number of tasks that are followed. */
  get size(): number {
    return this.#byId.size
  }

  /** Calls `onChange` with each change of a task. Returns a function that stops it. */
  add(id: string, onChange: () => void): () => void {
    const own = this.#byId.get(id) ?? new Set()
    // Its own function, so that the same one can follow twice.
    const follower = (): void => onChange()
    this.#byId.set(id, own.add(follower))
    return () => {
      own.delete(follower)
      if (own.size === 0 && this.#byId.get(id) === own) this.#byId.delete(id)
    }
  }

  changed(id: string): void {
    const own = this.#byId.get(id)
    if (own !== undefined) for (const follower of own) follower()
  }

  /** Calls everybody: the server closes. */
  all(): void {
    for (const own of this.#byId.values()) for (const follower of own) follower()
  }
}

/** Waits for the changes of one task. None is missed between two waits. */
export class TaskWatch {
  readonly #stop: () => void
  readonly #signal: AbortSignal | undefined
  readonly #wake = (): void => {
    this.#isChanged = true
    this.#resolve?.()
  }
  #isChanged = false
  #resolve: (() => void) | undefined

  constructor(followers: Followers, id: string, signal?: AbortSignal) {
    this.#stop = followers.add(id, this.#wake)
    this.#signal = signal
    signal?.addEventListener('abort', this.#wake)
  }

  /** Resolves with the next change, or at once if there was one since the last wait began. Throws if the signal aborts. */
  async changed(): Promise<void> {
    if (!this.#isChanged && this.#signal?.aborted !== true)
      await new Promise<void>((resolve) => (this.#resolve = resolve))
    this.#isChanged = false
    if (this.#signal?.aborted === true) throw this.#signal.reason
  }

  stop(): void {
    this.#stop()
    this.#signal?.removeEventListener('abort', this.#wake)
  }
}
