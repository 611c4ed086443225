import { request as plainRequest, Agent, type IncomingMessage } from 'node:http'
import { request as secureRequest, Agent as SecureAgent } from 'node:https'
import { SseParser, type SseEvent } from './events.ts'
import type { Trace } from './trace.ts'
import { MOST_BYTES, type HttpReply } from './wire.ts'

export interface HttpCall {
  readonly method: string
  readonly headers: Readonly<{ [name: string]: string }>
  readonly body?: string | Uint8Array | undefined
  /** The most time until the headers and a body that is no stream have come. */
  readonly ms?: number | undefined
  /** Is called for each event of a stream. */
  readonly onEvent?: ((event: SseEvent, stream: string) => void) | undefined
}

const agents = {
  'http:': new Agent({ keepAlive: true, maxSockets: 64 }),
  'https:': new SecureAgent({ keepAlive: true, maxSockets: 64 }),
}

let count = 0

/** How long the rest of a body may take, except that of a POST: its beginning says what is needed, and some servers leave it open. */
const REST_MS = 1_000

/** The most characters of a body that a note needs. */
const MOST_NOTED = 10_000

/** Sends one HTTP request exactly as told, follows no redirect, and reads the reply. Throws if there is none. */
export function httpCall(url: URL, call: HttpCall, trace: Trace): Promise<HttpReply> {
  const { method, headers, body, ms = 5_000 } = call
  const stream = `${method} ${++count}`
  const line = `${method} ${url.pathname}${url.search === '' ? '' : '?…'}`
  trace.add({ from: 'validator', stream, text: `${line}\n\n${textOf(body)}`.trim(), http: { headers } })
  return new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? secureRequest : plainRequest)(url, {
      method,
      // What a URL has before its host would become a header that nobody asked for.
      auth: null,
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      agent: isSecure ? agents['https:'] : agents['http:'],
      setHost: !Object.keys(headers).some((name) => name.toLowerCase() === 'host'),
    })
    const timer = setTimeout(() => request.destroy(new Error(`no reply to ${line} within ${ms} ms`)), ms)
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    let hasReply = false
    request.on('error', fail)
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      fail(new Error(`${line} is answered with ${response.statusCode}, a change of the protocol`))
    })
    request.on('close', () => {
      if (!hasReply) fail(new Error(`the connection was closed before a reply to ${line}`))
    })
    request.on('response', (response) => {
      hasReply = true
      readReply(response, { stream, call, trace }).then((reply) => {
        clearTimeout(timer)
        resolve(reply)
      }, fail)
    })
    request.end(body)
  })
}

function textOf(body: string | Uint8Array | undefined): string {
  if (body === undefined) return ''
  return typeof body === 'string' ? body : `(${body.length} bytes)`
}

interface Reading {
  readonly stream: string
  readonly call: HttpCall
  readonly trace: Trace
}

async function readReply(response: IncomingMessage, { stream, call, trace }: Reading): Promise<HttpReply> {
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
  const status = response.statusCode ?? 0
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  response.setEncoding('utf8')
  const ended = new Promise<boolean>((resolve) => {
    response.on('close', () => resolve(response.complete))
  })
  const body = isStream ? '' : await readBody(response, { ended, isPost: call.method === 'POST' })
  const at = trace.add({
    from: 'peer',
    stream,
    text: `${status}\n\n${body.slice(0, MOST_NOTED)}`.trim(),
    http: { status, headers },
  })
  if (isStream) readEvents(response, (event) => call.onEvent?.(event, stream))
  return { status, headers, body, isStream, stream, at, ended, close: () => response.destroy() }
}

function readEvents(response: IncomingMessage, onEvent: (event: SseEvent) => void): void {
  const parser = new SseParser(onEvent)
  let bytes = 0
  response.on('data', (chunk: string) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES) response.destroy()
    else parser.push(chunk)
  })
  response.on('error', () => undefined)
}

async function readBody(
  response: IncomingMessage,
  { ended, isPost }: { readonly ended: Promise<boolean>; readonly isPost: boolean },
): Promise<string> {
  let body = ''
  response.on('error', () => undefined)
  response.on('data', (chunk: string) => {
    body += chunk
    if (body.length > MOST_BYTES) response.destroy()
  })
  const timer = isPost ? undefined : setTimeout(() => response.destroy(), REST_MS)
  await ended
  clearTimeout(timer)
  return body.slice(0, MOST_BYTES)
}
