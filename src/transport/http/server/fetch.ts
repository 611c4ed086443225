import { McpError, mcpError } from '../../../errors/error.ts'
import { BODY_READ } from '../../../errors/http.ts'
import { PARSE_FAILED } from '../../../errors/wire.ts'
import { inLifetime, type Auth, type RequestLifetime } from '../../../rpc/call.ts'
import { replyText } from '../../../wire/reply.ts'
import { createByteBuffer } from '../../../wire/byte-buffer.ts'
import { decodeUtf8 } from '../../../wire/utf8.ts'
import { openLifetime } from '#lifetime'
import type { Endpoint } from './endpoint.ts'
import { reportBodyRead, takeBody } from './given-body.ts'
import { type HttpHead, type HttpIn, type HttpOut, type Sink, type HttpHandler, hasBody } from './parts.ts'
import type { Execution } from './lifetime.ts'
import { readForwarded, type Trust } from './proxy.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { afterMs } from '../../io/timer.ts'
import { ReadBudget } from '../../io/read-budget.ts'

/** What a framework knows of a web request. */
export interface FetchExtras {
  /** The caller that it authenticated. */
  readonly auth?: Auth
  /** The body, if it has read it: parsed, as text or as bytes. */
  readonly body?: unknown
  /** The `ctx` of a Worker, so that handlers notice when their client disconnects. */
  readonly execution?: Execution | undefined
}

/** Serves an endpoint on runtimes with web requests and responses. */
export function serveFetch(
  endpoint: Endpoint,
): (request: Request, extras?: FetchExtras) => Promise<Response> {
  const { extraEndpoints } = endpoint
  return async (request, extras = {}) => {
    const head = headOf(request, endpoint.trusts)
    const handler: HttpHandler = extraEndpoints.find((extra) => extra.owns(head.target)) ?? endpoint
    const rejection = handler.rejectHead(head)
    if (rejection !== undefined) return toResponse(rejection)
    let lifetime: RequestLifetime | undefined
    try {
      lifetime = openLifetime({ sweeper: handler.sweeper, execution: extras.execution })
      const caller = extras.auth === undefined ? await handler.authenticate?.(head) : extras
      if (caller !== undefined && 'reply' in caller) return toResponse(caller.reply, lifetime)
      const parts: HttpIn = {
        ...head,
        body: '',
        auth: caller?.auth,
        lifetime,
        onGone: (listener) => {
          if (request.signal.aborted) queueMicrotask(listener)
          else request.signal.addEventListener('abort', listener, { once: true })
        },
      }
      if (hasBody(head)) {
        if (extras.body === undefined) parts.body = await readBody(request, handler, lifetime)
        else takeBody(parts, extras.body, handler.limits)
      }
      return toResponse(await handler.answer(parts), lifetime)
    } catch (thrown) {
      reportBodyRead(handler.service, thrown)
      return toResponse(handler.rejectUnread(head, thrown), lifetime)
    }
  }
}

/** Answers a request with an error. */
export function failFetch(endpoint: Endpoint, request: Request, thrown: unknown): Response {
  return toResponse(endpoint.rejectUnread(headOf(request, endpoint.trusts), thrown))
}

/** The head of a request. Some runtimes give the host only in the URL. */
function headOf(request: Request, trusts: Trust | undefined): HttpHead {
  const { headers, url } = request
  const forwarded = trusts && readForwarded(trusts, undefined, (name) => headers.get(name) ?? undefined)
  const header = (name: string): string | undefined => {
    if (name !== 'host') return headers.get(name) ?? undefined
    return forwarded?.host ?? headers.get(name) ?? new URL(url).host
  }
  return {
    method: request.method,
    scheme: forwarded?.scheme ?? (url.startsWith('https:') ? 'https' : 'http'),
    ip: forwarded?.ip,
    header,
    headers: () => Object.fromEntries(headers),
    get target() {
      const { pathname, search } = new URL(url)
      return `${pathname}${search}`
    },
  }
}

/** Reads the whole body; throws when it is too large, incomplete, or not UTF-8. */
async function readBody(
  request: Request,
  { service, limits }: HttpHandler,
  lifetime: RequestLifetime | undefined,
): Promise<string> {
  // A locked body belongs to somebody who is about to read it.
  if (request.bodyUsed || request.body?.locked === true) throw mcpError(BODY_READ, {})
  const reading = new ReadBudget(budgetsOf(service, limits).read, limits.httpBytes)
  const tooLarge = reading.announce(Number(request.headers.get('content-length')))
  if (tooLarge !== undefined) throw tooLarge
  const buffer = createByteBuffer(limits.httpBytes)
  const reader = request.body?.getReader()
  let isLate = false
  let isOver = false
  const end = (): void => {
    isOver = true
    reading.end()
  }
  lifetime?.hold(() => isOver, end)
  const timer = afterMs(limits.bodyMs, () => {
    isLate = true
    void reader?.cancel().catch(() => undefined)
  })
  try {
    for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
      const problem = reading.take(step.value.length)
      if (problem !== undefined) throw problem
      buffer.append(step.value)
    }
    if (isLate) throw reading.late()
    const text = decodeUtf8(buffer.view())
    if (text !== undefined) return text
  } catch (thrown) {
    if (thrown instanceof McpError) void reader?.cancel().catch(() => undefined)
    throw thrown instanceof McpError ? thrown : mcpError(PARSE_FAILED, {}, { cause: thrown })
  } finally {
    clearTimeout(timer)
    end()
  }
  throw mcpError(PARSE_FAILED, {})
}

function toResponse(
  { status, headers, cookies = [], body, bytes, stream }: HttpOut,
  lifetime?: RequestLifetime,
): Response {
  const text = body === undefined ? null : replyText(body)
  const response = new Response(stream === undefined ? (bytes ?? text) : toReadable(stream, lifetime), {
    status,
    headers,
  })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  if (stream === undefined) lifetime?.close()
  return response
}

/** The stream of a reply. Whatever writes to it, the controller is used only on behalf of its own request. */
function toReadable(
  stream: NonNullable<HttpOut['stream']>,
  lifetime: RequestLifetime | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let gone: () => void = () => undefined
  let open = true
  let cancelled = false
  /** Bytes on their way to the controller. */
  let deferred = 0
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (text: string): void => {
      if (!open) return
      const bytes = encoder.encode(text)
      deferred += bytes.length
      inLifetime(lifetime, () => {
        deferred -= bytes.length
        if (!cancelled) controller.enqueue(bytes)
      })
    }
    const close = (how: () => void): void => {
      if (!open) return
      open = false
      inLifetime(lifetime, () => {
        if (!cancelled) how()
        lifetime?.close()
      })
    }
    const sink: Sink = {
      write,
      end: (text = '') => {
        if (text !== '') write(text)
        close(() => controller.close())
      },
      abort: () => close(() => controller.error(new Error('the client reads too slowly'))),
      get waiting() {
        return deferred + Math.max(0, -(controller.desiredSize ?? 0))
      },
      onGone: (listener) => void (gone = listener),
    }
    stream.attach(sink)
  }
  const cancel = (): void => {
    cancelled = true
    open = false
    gone()
    lifetime?.close()
  }
  lifetime?.hold(() => !open, cancel)
  // A high-water mark of 0 makes `desiredSize` count unread bytes from the first one on.
  return new ReadableStream({ start, cancel }, { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 })
}
