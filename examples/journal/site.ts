import type { App } from 'pierhead'

/** Serves an app to the clients of a proxy on this machine or in the same network. */
export async function listenBehindProxy(app: App, port: number): Promise<string | undefined> {
  const { url } = await app.listen({
    http: { port, hosts: ['mcp.example'], trustProxy: ['127.0.0.1', '10.0.0.0/8'] },
  })
  return url
}
