import { TurnoverMap } from '../base/turnover-map.ts'

/** Calls functions when tasks change, by the id of the task. */
export class Followers {
  readonly #byId = new TurnoverMap<string, (() => void)[]>()

  /** Calls `onChange` with each change of a task. Returns a function that stops it. */
  add(id: string, onChange: () => void): () => void {
    // Its own function, so that the same one can follow twice.
    const follower = (): void => onChange()
    const others = this.#byId.get(id)
    if (others === undefined) this.#byId.set(id, [follower])
    else others.push(follower)
    return () => this.#remove(id, follower)
  }

  changed(id: string): void {
    const own = this.#byId.get(id)
    // Those of this moment, whatever is added or removed meanwhile.
    if (own?.length === 1) own[0]?.()
    else if (own !== undefined) for (const follower of own.slice()) follower()
  }

  /** Calls everybody: the server closes. */
  all(): void {
    for (const own of this.#byId.values()) for (const follower of own.slice()) follower()
  }

  #remove(id: string, follower: () => void): void {
    const own = this.#byId.get(id)
    const at = own?.indexOf(follower) ?? -1
    if (own === undefined || at < 0) return
    own.splice(at, 1)
    if (own.length === 0) this.#byId.delete(id)
  }
}

/** Waits for the changes of one task. None is missed between two waits. */
export class TaskWatch {
  readonly #stop: () => void
  #isChanged = false
  #resolve: (() => void) | undefined

  constructor(followers: Followers, id: string) {
    this.#stop = followers.add(id, this.wake)
  }

  /** Ends the wait, whether the task has changed or not. */
  readonly wake = (): void => {
    this.#isChanged = true
    this.#resolve?.()
  }

  /** Resolves with the next change, or at once if there was one since the last wait began. */
  async changed(): Promise<void> {
    if (!this.#isChanged) await new Promise<void>((resolve) => (this.#resolve = resolve))
    this.#isChanged = false
  }

  stop(): void {
    this.#stop()
  }
}
