import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, deflateRawSync } from 'node:zlib'

/** What the server sends without end, as fast as the client takes it. */
const DATA: Readonly<Record<string, string>> = {
  comments: ':\n'.repeat(500_000),
  notifications: `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })}\n\n`.repeat(20_000),
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-allow-methods': '*',
  'access-control-expose-headers': '*',
}

export interface Endless {
  readonly origin: string
  close(): Promise<void>
}

/**
 * A server with sessions and streams that never end. The query of its URL says which: `get` is the stream for notifications, `post`
 * the reply to a call, `gist` the reply to a call of gist; the value is a name in `DATA`. It is compressed, so that it costs the
 * server nothing.
 */
export async function serveEndless(): Promise<Endless> {
  const server = createServer((request, response) => void reply(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value)
  const json = (value: unknown, status = 200): unknown =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  const { id, method, ...message } = JSON.parse(body === '' ? '{}' : body) as Record<string, unknown>
  const answer = (result: unknown): unknown => json({ jsonrpc: '2.0', id, result })
  if (request.method === 'GET' && query.has('get')) return pour(response, query.get('get'))
  if (request.method !== 'POST') return response.writeHead(request.method === 'GET' ? 405 : 204).end()
  if (query.has('gist')) {
    if (!('mcp_version' in message)) return pour(response, query.get('gist'))
    const { mcp_version } = message
    return json({ mcp_version, version: '2025-11', session: 's', transport: 'http', capabilities: [] })
  }
  if (method === 'server/discover') return json({ jsonrpc: '2.0', id, error: NO_METHOD }, 400)
  if (method === 'initialize') {
    response.setHeader('mcp-session-id', 'endless')
    const serverInfo = { name: 'endless', version: '1.0.0' }
    return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
  }
  if (id === undefined) return response.writeHead(202).end()
  if (method === 'tools/call' && query.has('post')) return pour(response, query.get('post'))
  return answer({ content: [{ type: 'text', text: 'answer' }] })
}

const NO_METHOD = { code: -32601, message: 'unknown method' }

/** The head of a gzip file. */
const GZIP = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/** Writes whenever the client can take more. */
function pour(response: ServerResponse, name: string | null): void {
  // Blocks after a full flush do not depend on earlier ones, so they can be repeated.
  const blocks = deflateRawSync(DATA[name ?? ''] ?? '', { finishFlush: constants.Z_FULL_FLUSH })
  response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
  response.write(GZIP)
  const write = (): void => {
    if (response.destroyed) return
    if (response.write(blocks)) setImmediate(write)
    else response.once('drain', write)
  }
  write()
}
