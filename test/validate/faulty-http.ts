import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { isObject, parsed } from '../../src/validate/message.ts'
import type { Fault, FaultReply, FaultRequest } from './fault.ts'
import { FaultyMessages } from './faulty-messages.ts'

export interface FaultyServer {
  readonly url: URL
  close(): Promise<void>
}

/** A server in front of the correct one at `target`, which breaks one rule. */
export async function faultyHttp(target: URL, fault: Fault | undefined): Promise<FaultyServer> {
  const connections = new Map<string, FaultyMessages>()
  /** The open streams of HTTP+SSE, by the address for messages that they named. */
  const streams = new Map<string, (text: string) => void>()
  const onEndpoint: OnEndpoint = (address, messages, send) => {
    streams.set(address, send)
    connections.set(new URL(address, target).search, messages)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(incoming)
    const value = parsed(body)
    const asked: FaultRequest = {
      method: incoming.method ?? 'GET',
      url: new URL(incoming.url ?? '/', target),
      headers: headersOf(incoming.headers as Record<string, string>),
      body,
      message: isObject(value) ? value : undefined,
    }
    const wanted = fault?.request?.(asked) ?? asked
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const key = wanted.headers['mcp-session-id'] ?? wanted.url.search
    // Questions cross requests of a session, so their ids are known in all of them.
    const messages = connections.get(key) ?? new FaultyMessages(fault)
    if (key !== '') connections.set(key, messages)
    const next = (): Promise<FaultReply> => pass(wanted, messages, gone.signal)
    const reply = here(await (fault?.http?.(wanted, next) ?? next()), `http://127.0.0.1:${port}`)
    if (response.destroyed) return
    response.writeHead(reply.status, reply.headers)
    response.flushHeaders()
    if (reply.body === null || typeof reply.body === 'string')
      return void response.end(reply.body ?? undefined)
    Readable.fromWeb(reply.body as never)
      .on('error', () => response.destroy())
      .pipe(response)
  }

  async function pass(
    asked: FaultRequest,
    messages: FaultyMessages,
    signal: AbortSignal,
  ): Promise<FaultReply> {
    const { method, url, headers, body } = asked
    const instead = body === '' ? undefined : messages.fromClient(body, headers)
    if (instead !== undefined) {
      const stream = streams.get(url.pathname + url.search)
      if (stream !== undefined) for (const text of instead) stream(text)
      return stream !== undefined || instead.length === 0
        ? { status: 202, headers: {}, body: null }
        : bodyOf(200, {}, instead)
    }
    // A foreign host is passed on as it is.
    const host = headers['host'] === `127.0.0.1:${port}` ? target.host : (headers['host'] ?? '')
    const response = await ask(url, { method, headers: { ...headers, host }, body, signal })
    return replyOf(response, messages, onEndpoint)
  }

  return {
    url: new URL(target.pathname, `http://127.0.0.1:${port}`),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The public address of a protected server, in whose place this one stands. */
export const PUBLIC_ORIGIN = 'https://validated.example'

/** A reply whose addresses lead to this server. */
function here(reply: FaultReply, origin: string): FaultReply {
  const challenge = reply.headers['www-authenticate']?.replaceAll(PUBLIC_ORIGIN, origin)
  const body = typeof reply.body === 'string' ? reply.body.replaceAll(PUBLIC_ORIGIN, origin) : reply.body
  const headers = { ...reply.headers, ...(challenge !== undefined && { 'www-authenticate': challenge }) }
  return { ...reply, headers, body }
}

/** Is told the address for messages that a stream of HTTP+SSE names. */
type OnEndpoint = (address: string, messages: FaultyMessages, send: (text: string) => void) => void

const LOST = new Set(['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'content-encoding'])

function headersOf(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (pair): pair is [string, string] => pair[1] !== undefined && !LOST.has(pair[0]),
    ),
  )
}

/** A reply with one message, or with a stream of several. */
function bodyOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  texts: readonly string[],
): FaultReply {
  const type = texts.length > 1 ? 'text/event-stream' : 'application/json'
  const body =
    texts.length > 1 ? texts.map((text) => `event: message\ndata: ${text}\n\n`).join('') : (texts[0] ?? '')
  return { status, headers: { ...headers, 'content-type': type }, body }
}

/** Sends a request with exactly these headers. */
function ask(
  url: URL,
  {
    method,
    headers,
    body,
    signal,
  }: Pick<FaultRequest, 'method' | 'headers' | 'body'> & { readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, signal }, resolve)
    asked.on('error', reject)
    asked.end(body)
  })
}

async function replyOf(
  response: IncomingMessage,
  messages: FaultyMessages,
  onEndpoint: OnEndpoint,
): Promise<FaultReply> {
  const status = response.statusCode ?? 0
  const headers = headersOf(response.headers as Record<string, string>)
  if (/text\/event-stream/.test(headers['content-type'] ?? '')) {
    const body = Readable.toWeb(response) as ReadableStream<Uint8Array>
    return { status, headers, body: body.pipeThrough(eventChanger(messages, onEndpoint)) }
  }
  const body = await readText(response)
  if (body === '' || !/json/.test(headers['content-type'] ?? ''))
    return { status, headers, body: body === '' ? null : body }
  return bodyOf(status, headers, messages.fromServer(body))
}

/** Changes the messages in a stream of events, and leaves the rest of it as it is. */
function eventChanger(
  messages: FaultyMessages,
  onEndpoint: OnEndpoint,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  return new TransformStream({
    transform(chunk, controller) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = /^data: ?(.*)$/m.exec(block)?.[1]
        if (/^event: endpoint/m.test(block) && data !== undefined)
          onEndpoint(data, messages, (text) =>
            controller.enqueue(encoder.encode(`event: message\ndata: ${text}\n\n`)),
          )
        const texts =
          data === undefined || data === '' || /^event: (?!message)/m.test(block)
            ? undefined
            : messages.fromServer(data)
        const all =
          texts === undefined
            ? [block]
            : texts.map((text) => block.replace(/^data: ?.*$/m, () => `data: ${text}`))
        for (const one of all) controller.enqueue(encoder.encode(`${one}\n\n`))
      }
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(encoder.encode(rest))
    },
  })
}
