import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Sends each request to the next node, without sticky sessions. In production, nginx or a service of Kubernetes does this. */
export async function startProxy(ports: readonly number[], port = 0): Promise<string> {
  let turn = 0
  const server = createServer((asked, answered) => {
    turn++
    pass(
      asked,
      answered,
      ports.map((_, at) => ports[(turn + at) % ports.length] as number),
    )
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** Passes a request to the first of some ports, and to the next one if nobody listens there. */
function pass(asked: IncomingMessage, answered: ServerResponse, ports: readonly number[]): void {
  const [port, ...others] = ports
  if (port === undefined) return void answered.writeHead(502).end('no node is running\n')
  const { method, url, headers } = asked
  const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  // The body is sent only over a connection that exists, so it can still go elsewhere.
  sent.once('socket', (socket) => socket.once('connect', () => asked.pipe(sent)))
  sent.once('response', (reply) => {
    const { connection: _1, 'keep-alive': _2, 'transfer-encoding': _3, ...rest } = reply.headers
    answered.writeHead(reply.statusCode ?? 502, rest).flushHeaders()
    reply.pipe(answered)
    reply.once('error', () => answered.destroy())
  })
  sent.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') pass(asked, answered, others)
    else answered.destroy()
  })
  answered.once('close', () => sent.destroy())
}
