/** Doors that a test opens for handlers, by name. */
export class Door {
  readonly #waiting = new Map<string, () => void>()
  readonly #open = new Set<string>()

  /** Waits until the test opens the door. */
  async pass(name: string): Promise<void> {
    if (this.#open.delete(name)) return
    await new Promise<void>((resolve) => this.#waiting.set(name, resolve))
  }

  /** Lets one handler through, the one that waits or the next one. */
  open(name: string): void {
    const go = this.#waiting.get(name)
    if (go === undefined) this.#open.add(name)
    else go()
    this.#waiting.delete(name)
  }
}
