import { once } from 'node:events'
import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { App } from '../../src/index.ts'

/** Serves an app until the test is over: with a listener of its own, or mounted in one of Node. Each resolves with the port. */
export const LISTENERS = {
  async listen(app: App): Promise<number> {
    const running = await app.listen({ http: { port: 0 } })
    onTestFinished(() => running.close())
    return Number(new URL(running.url as string).port)
  },
  async node(app: App): Promise<number> {
    const server = createNodeServer(app.node())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  },
}
