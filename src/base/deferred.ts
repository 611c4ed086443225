/** A promise that is settled from outside. The first value counts, so it takes no promise, which would shut out others. */
export class Deferred<Value> {
  readonly promise: Promise<Value>
  resolve!: (value: Value) => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
