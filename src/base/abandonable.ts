/** A promise that its reader may drop: its failure does not count as unhandled. */
export function abandonable<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined)
  return promise
}
