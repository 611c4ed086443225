/** Replaces the adapter for `node:http` on runtimes without it, where `app.node()` throws. */
export function serveNode(): never {
  throw new Error('this runtime has no node:http')
}
