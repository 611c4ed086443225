/** Watchers in this process, by the key of what they watch. */
export class Watchers {
  readonly #watchers = new Map<string, Set<(text?: string) => void>>()

  /** What is watched. */
  get keys(): readonly string[] {
    return [...this.#watchers.keys()]
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0
  }

  has(key: string): boolean {
    return this.#watchers.has(key)
  }

  /** Adds one, and returns a function that removes it. */
  add(key: string, onNews: (text?: string) => void): () => void {
    // Its own function, so that the same one can watch twice.
    const watcher = (text?: string): void => onNews(text)
    const watchers = this.#watchers.get(key) ?? new Set()
    this.#watchers.set(key, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(key) === watchers) this.#watchers.delete(key)
    }
  }

  /** Calls those who watch something, with the text of the news if it has one. */
  notify(key: string, text?: string): void {
    const watchers = this.#watchers.get(key)
    if (watchers !== undefined) for (const watcher of watchers) watcher(text)
  }

  /** Calls all, because anything may have changed. */
  notifyAll(): void {
    for (const key of this.keys) this.notify(key)
  }
}

/** The key of a stream of a session. */
export function streamKey(session: string, stream: string): string {
  return JSON.stringify([session, stream])
}
