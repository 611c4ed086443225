import { createServer } from '../../src/index.ts'

interface Serving {
  readonly hostname: string
  readonly port: number
  onListen?(address: { readonly port: number }): void
}

type Answer = (request: Request) => Promise<Response>

/** The part of each runtime that serves web requests. */
const { Bun, Deno } = globalThis as unknown as {
  readonly Bun?: { serve(options: Serving & { fetch: Answer }): { readonly port: number } }
  readonly Deno?: { serve(options: Serving, answer: Answer): unknown }
}

// The server that the tests of mounts start under another runtime.
let ran = 0
const app = createServer({ name: 'runtime', version: '1.0.0' })
  .tool('mark', {}, () => String(++ran))
  .tool('count', {}, () => String(ran))
const print = ({ port }: { readonly port: number }): void => console.log(`listening on ${port}`)
const address = { hostname: '127.0.0.1', port: 0 }
if (Bun !== undefined) print(Bun.serve({ ...address, fetch: app.fetch }))
else Deno?.serve({ ...address, onListen: print }, app.fetch)
