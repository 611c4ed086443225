/** A promise that is settled from outside. */
export class Deferred<Value> {
  readonly promise: Promise<Value>
  resolve!: (value: Value | Promise<Value>) => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
