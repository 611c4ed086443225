import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** Tells clients which node got a request. */
export const NODE_HEADER = 'x-chaos-node'

/** The name of the node at a place. */
export function nodeName(place: number): string {
  return `node ${place + 1}`
}

/** Sends each request to the next node, as a load balancer without sticky sessions does, and passes over nodes that refuse the connection. */
export class ChaosProxy {
  readonly #server = createServer((asked, answered) => void this.#serve(asked, answered))
  readonly #ports: readonly number[]
  readonly #joined = new Set<Duplex>()
  #next = 0

  constructor(ports: readonly number[]) {
    this.#ports = ports
    this.#server.on('upgrade', (asked, client: Duplex) => this.#join(asked, client, this.#ports.length))
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
    for (const client of this.#joined) client.destroy()
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
    const place = this.#next++ % this.#ports.length
    const port = this.#ports[place]
    const { method, url: path, headers } = asked
    const passed = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (reply) => {
      // Both connections are kept alive by themselves.
      const { connection: _1, 'keep-alive': _2, 'transfer-encoding': _3, ...rest } = reply.headers
      answered.writeHead(reply.statusCode ?? 502, { ...rest, [NODE_HEADER]: nodeName(place) })
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
      else answered.writeHead(502, { [NODE_HEADER]: nodeName(place) }).end()
    })
    passed.end(body)
  }

  /** Joins the connection of a client that asks for a WebSocket with one to the next node. */
  #join(asked: IncomingMessage, client: Duplex, tries: number): void {
    const place = this.#next++ % this.#ports.length
    const node = connect(this.#ports[place] as number, '127.0.0.1')
    this.#joined.add(client)
    const end = (): void => {
      this.#joined.delete(client)
      client.destroy()
      node.destroy()
    }
    client.once('error', end).once('close', end)
    node.once('connect', () => {
      const { method, url, rawHeaders } = asked
      const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
      node.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
      client.pipe(node)
      // Node's replies begin with the status line in one piece.
      node.once('data', (head: Buffer) => {
        const end = head.indexOf('\r\n') + 2
        client.write(head.subarray(0, end))
        if (end > 1) client.write(`${NODE_HEADER}: ${nodeName(place)}\r\n`)
        client.write(head.subarray(end))
        node.pipe(client)
      })
      node.once('close', end)
    })
    node.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNREFUSED' || tries <= 1 || client.destroyed) return end()
      client.off('error', end).off('close', end)
      this.#join(asked, client, tries - 1)
    })
  }
}
