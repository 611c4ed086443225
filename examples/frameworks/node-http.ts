import { createServer as createHttpServer, type Server } from 'node:http'
import type { App } from 'pierhead'

/** Serves `app` at /mcp with Node alone, next to pages of your own. */
export function start(app: App, port: number): Server {
  const serve = app.node()
  const site = createHttpServer((request, response) => {
    if (request.url === '/mcp') return serve(request, response)
    response.writeHead(404).end()
  })
  return site.listen(port, '127.0.0.1')
}
