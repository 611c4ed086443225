/** Values that expire. When it is full, the oldest is dropped. */
export class Store<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly expiresAt: number }>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of values that have not expired. */
  get size(): number {
    this.#sweep()
    return this.#entries.size
  }

  /** The keys of the values that have not expired, oldest first. */
  keys(): readonly string[] {
    this.#sweep()
    return [...this.#entries.keys()]
  }

  /** The values that have not expired. */
  values(): readonly Value[] {
    this.#sweep()
    return [...this.#entries.values()].map(({ value }) => value)
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.expiresAt > Date.now() ? entry.value : undefined
  }

  /** Keeps a value until `expiresAt`, in milliseconds since 1970. */
  set(key: string, value: Value, expiresAt: number): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#limit) this.#sweep()
    const oldest = this.#entries.keys().next()
    if (this.#entries.size >= this.#limit && oldest.done !== true) this.#entries.delete(oldest.value)
    this.#entries.set(key, { value, expiresAt })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** When the first value expires, in milliseconds since 1970; `Infinity` if there is none. */
  get firstExpiry(): number {
    return Math.min(...[...this.#entries.values()].map(({ expiresAt }) => expiresAt))
  }

  #sweep(): void {
    const now = Date.now()
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key)
  }
}
