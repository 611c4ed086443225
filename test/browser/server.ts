import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { createServer } from '../../src/index.ts'

export interface Served {
  readonly url: string
  readonly ws: string
  close(): Promise<void>
}

const SUM = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const
const TOTAL = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const
const SHIP = { type: 'object', properties: { ship: { type: 'string' } }, required: ['ship'] } as const

/** A server on a name of its own, which lets the pages of some origins in. */
export async function serveMcp(cors: readonly string[]): Promise<Served> {
  let tide = 0
  const app = createServer({
    name: 'harbour',
    version: '1.0.0',
    log: () => undefined,
    limits: { drainMs: 50 },
  })
  app.tool('add', { input: SUM, output: TOTAL }, ({ a, b }) => ({ sum: a + b }))
  app.tool('count', {}, (_, { progress }) => {
    for (let n = 1; n <= 3; n++) progress(n, 3)
    return 'counted'
  })
  app.tool('ask', {}, async (_, { elicit }) => {
    const answer = await elicit('Which ship?', SHIP)
    return answer.action === 'accept' ? answer.content.ship : answer.action
  })
  app.resource('harbour://tide', { name: 'tide' }, () => `tide ${tide}`)
  const rise = setInterval(() => {
    tide = 1
    app.updated('harbour://tide')
  }, 50)
  const running = await app.listen({ http: { port: 0, hosts: ['127.0.0.1'], cors }, ws: true })
  return {
    url: running.url as string,
    ws: running.addresses.ws as string,
    async close() {
      clearInterval(rise)
      await running.close()
    },
  }
}

/** The page and its program in parts, on an origin that is not the server's. */
export async function servePage(): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const { outputFiles } = await build({
    entryPoints: ['test/browser/page.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['pierhead-source'],
    outdir: 'page',
    write: false,
    logLevel: 'error',
  })
  const parts = new Map(outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf('/')), text]))
  const server = createHttpServer(({ url = '/' }, response) => {
    const part = parts.get(url)
    response.setHeader('content-type', part === undefined ? 'text/html' : 'text/javascript')
    response.end(part ?? '<!doctype html><title>page</title><script type="module" src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
