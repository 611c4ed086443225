import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { HttpTransport } from '@tmcp/transport-http'
import { announce, serverOptions } from './listening.mjs'
import { server } from './tmcp-server.mjs'

const transport = new HttpTransport(server, { path: '/mcp' })
const listener = getRequestListener(
  async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
)
const http = createServer(serverOptions, listener)
http.listen(0, '127.0.0.1', () => announce(http.address().port))
