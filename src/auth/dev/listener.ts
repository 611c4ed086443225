import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { badOption } from '../../base/options.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** A listener on this computer. */
export interface Listener {
  readonly port: number
  /** Answers requests with a handler from now on. */
  serve(handler: (request: Request) => Promise<Response>): void
  close(): Promise<void>
}

const MAX_BODY = 65_536

/** Opens a port. It does not keep the process running. */
export async function openListener(host: string, port: number): Promise<Listener> {
  let handler: (request: Request) => Promise<Response> = () =>
    Promise.resolve(new Response(undefined, { status: 503 }))
  const server = createServer({ requestTimeout: 10_000 }, (incoming, outgoing) => {
    respond(handler, incoming, outgoing).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : undefined)
    })
  })
  await listening(server, host, port)
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    serve: (given) => void (handler = given),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE' ? `port ${port} is in use; choose another, or 0 for any` : error.message
      reject(badOption('devAuth', reason))
    })
    server.listen({ host, port }, () => resolve())
  })
}

async function respond(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await readBody(incoming)
  const response =
    body === undefined
      ? new Response(undefined, { status: 413, headers: { connection: 'close' } })
      : await handler(toRequest(incoming, body))
  outgoing.writeHead(response.status, [...response.headers].flat())
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

/** The body; undefined if it is too long. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toRequest({ method = 'GET', url = '/', headers }: IncomingMessage, body: string): Request {
  const names = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  const flat = names.map(([name, value]): [string, string] => [name, [value].flat().join(', ')])
  const path = url.startsWith('/') ? url.replace(/^[/\\]+/, '/') : '/'
  const base = `http://${headers.host ?? ''}`
  const whole = parseUrl(path, isUrl(base) ? base : 'http://invalid')
  return new Request(whole, { method, headers: flat, ...(method === 'POST' && { body }) })
}
