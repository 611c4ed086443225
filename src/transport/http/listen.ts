import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mcpError } from '../../protocol/errors.ts'
import type { Endpoint } from './answer.ts'
import { serveNode } from './node.ts'

export interface HttpListenOptions {
  readonly port: number
  readonly host: string
  readonly path: string
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

/** Opens a listener of our own: the endpoint at its path, and two paths that tell whether the server is well. */
export async function listenHttp(endpoint: Endpoint, options: HttpListenOptions): Promise<HttpServer> {
  const { host, path } = options
  const { limits } = endpoint
  const serve = serveNode(endpoint)
  let ready = true
  const server = createServer(
    { headersTimeout: limits.headersMs, requestTimeout: limits.bodyMs + limits.headersMs },
    (request, response) => {
      const asked = (request.url ?? '').split('?', 1)[0]
      if (asked === path) return serve(request, response)
      if (asked === '/healthz')
        return void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
      if (asked === '/readyz')
        return void response
          .writeHead(ready ? 200 : 503, { 'content-type': 'text/plain' })
          .end(ready ? 'ready\n' : 'closing\n')
      const { status, headers, body } = endpoint.fail(undefined, mcpError('unknown_path', {}), undefined, {})
      response.writeHead(status, headers).end(body)
    },
  )
  server.keepAliveTimeout = 75_000
  await listening(server, options)
  const { port } = server.address() as AddressInfo
  const timers = [
    setInterval(() => endpoint.sessions.sweep(), Math.min(30_000, limits.sessionIdleMs)).unref(),
    setInterval(() => endpoint.keepAlive(), limits.keepAliveMs).unref(),
  ]
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`, port, close }

  async function close(): Promise<void> {
    ready = false
    for (const timer of timers) clearInterval(timer)
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await endpoint.close()
    server.closeAllConnections()
    await closed
  }
}

function listening(server: Server, { port, host }: HttpListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, port, host)))
    server.listen(port, host, () => resolve())
  })
}

function explained(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const reason =
    error.code === 'EADDRINUSE' ? `port ${port} is in use; choose another, or 0 for any` : error.message
  return mcpError('bad_option', { where: `listen on ${host}:${port}`, reason }, { cause: error })
}
