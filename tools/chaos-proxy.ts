import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Sends each request to the next node, as a load balancer without sticky sessions does, and passes over nodes that refuse the connection. */
export class ChaosProxy {
  readonly #server = createServer((asked, answered) => void this.#serve(asked, answered))
  readonly #ports: readonly number[]
  #next = 0

  constructor(ports: readonly number[]) {
    this.#ports = ports
  }

  /** Listens at a free port, and answers the URL of the endpoint. */
  async listen(): Promise<string> {
    this.#server.keepAliveTimeout = 600_000
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #serve(asked: IncomingMessage, answered: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of asked) chunks.push(chunk as Buffer)
    } catch {
      return void answered.destroy()
    }
    this.#pass(asked, Buffer.concat(chunks), answered, this.#ports.length)
  }

  #pass(asked: IncomingMessage, body: Buffer, answered: ServerResponse, tries: number): void {
    const port = this.#ports[this.#next++ % this.#ports.length]
    const { method, url: path, headers } = asked
    const passed = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (reply) => {
      // Both connections are kept alive by themselves.
      const { connection: _1, 'keep-alive': _2, 'transfer-encoding': _3, ...rest } = reply.headers
      answered.writeHead(reply.statusCode ?? 502, rest)
      answered.flushHeaders()
      reply.pipe(answered)
      // A node that dies breaks the connection of the client, which must not take the reply for complete.
      reply.once('error', () => answered.destroy())
    })
    const onClose = (): void => void passed.destroy()
    answered.once('close', onClose)
    passed.once('error', (error: NodeJS.ErrnoException) => {
      answered.off('close', onClose)
      if (answered.destroyed || answered.headersSent) return void answered.destroy()
      // Such a request was not sent, so another node may have it.
      if (error.code === 'ECONNREFUSED' && tries > 1) this.#pass(asked, body, answered, tries - 1)
      else answered.writeHead(502).end()
    })
    passed.end(body)
  }
}
