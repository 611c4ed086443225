import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mcpError } from '../../protocol/errors.ts'
import type { Auth } from '../../rpc/call.ts'
import type { Endpoint } from './answer.ts'
import { NO_HEADERS, type HttpIn, type HttpOut, type Sink } from './parts.ts'

/** A request that a framework may have worked on: its body parsed, its caller authenticated. */
type NodeRequest = IncomingMessage & { readonly body?: unknown; readonly auth?: Auth }

/** Bytes being read from all clients at once. */
let reading = 0

/** Serves an endpoint to Node's own HTTP server and to frameworks built on it. */
export function serveNode(endpoint: Endpoint): (request: NodeRequest, response: ServerResponse) => void {
  return (request, response) => {
    const head = { method: request.method ?? '', header: (name: string) => headerOf(request, name) }
    const refused = endpoint.refuse(head)
    if (refused !== undefined) return refuse(request, response, refused)
    if (request.method !== 'POST') return respond(response, endpoint.answer(partsOf(request, response, '')))
    if (request.body !== undefined)
      return respond(response, endpoint.answer(partsOf(request, response, '', request.body)))
    readBody(request, endpoint, (text) => {
      if (typeof text !== 'string') return refuse(request, response, text)
      respond(response, endpoint.answer(partsOf(request, response, text)))
    })
  }
}

function partsOf(request: NodeRequest, response: ServerResponse, body: string, parsed?: unknown): HttpIn {
  return {
    method: request.method ?? '',
    header: (name) => headerOf(request, name),
    body,
    parsed,
    auth: request.auth,
    onGone: (listener) => void response.once('close', listener),
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Reads the whole body unless it is too large, comes too slowly, or is not UTF-8. */
function readBody(
  request: IncomingMessage,
  endpoint: Endpoint,
  done: (text: string | HttpOut) => void,
): void {
  const { limits } = endpoint
  const chunks: Buffer[] = []
  let size = 0
  let finished = false
  const timer = setTimeout(() => request.destroy(), limits.bodyMs)
  if (Number(request.headers['content-length']) > limits.httpBytes) return finish(tooLarge())
  request.on('data', (chunk: Buffer) => {
    if (finished) return
    size += chunk.length
    reading += chunk.length
    if (size > limits.httpBytes) return finish(tooLarge())
    if (reading > limits.unparsedBytes) {
      return finish(
        endpoint.fail(
          undefined,
          mcpError('too_many_bytes', {}, { retryAfterMs: 1000 }),
          undefined,
          NO_HEADERS,
        ),
      )
    }
    chunks.push(chunk)
  })
  request.once('end', () => finish(decode()))
  request.once('close', () => finish(undefined))

  function finish(result: string | HttpOut | undefined): void {
    if (finished) return
    finished = true
    clearTimeout(timer)
    reading -= size
    if (result !== undefined) done(result)
  }

  function decode(): string | HttpOut {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    return isUtf8(bytes)
      ? bytes.toString('utf8')
      : endpoint.fail(undefined, mcpError('parse_failed', {}), undefined, NO_HEADERS)
  }

  function tooLarge(): HttpOut {
    return endpoint.fail(undefined, mcpError('too_large', { limit: limits.httpBytes }), undefined, NO_HEADERS)
  }
}

/** Replies to a request whose body is not wanted: the rest of it is not read. */
function refuse(request: IncomingMessage, response: ServerResponse, out: HttpOut): void {
  if (!request.complete && request.method === 'POST') response.shouldKeepAlive = false
  response.once('finish', () => {
    if (!request.complete) request.destroy()
  })
  write(response, out)
}

function respond(response: ServerResponse, out: HttpOut | Promise<HttpOut>): void {
  if (out instanceof Promise) void out.then((late) => write(response, late))
  else write(response, out)
}

function write(response: ServerResponse, out: HttpOut): void {
  if (response.destroyed) {
    out.stream?.attach(GONE)
    return
  }
  if (out.stream !== undefined) {
    response.writeHead(out.status, out.headers)
    response.flushHeaders()
    return out.stream.attach(toSink(response))
  }
  if (out.body === undefined)
    return void response.writeHead(out.status, { ...out.headers, 'content-length': '0' }).end()
  response
    .writeHead(out.status, { ...out.headers, 'content-length': Buffer.byteLength(out.body) })
    .end(out.body)
}

function toSink(response: ServerResponse): Sink {
  return {
    write: (text) => void response.write(text),
    end: () => void response.end(),
    get waiting() {
      return response.writableLength
    },
    onGone: (listener) => void response.once('close', listener),
  }
}

/** Stands for a client that went away before its stream began. */
const GONE: Sink = {
  write: () => undefined,
  end: () => undefined,
  waiting: 0,
  onGone: (listener) => queueMicrotask(listener),
}
