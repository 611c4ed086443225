import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_HTTP } from '../../../errors/http.ts'
import { PARSE_FAILED } from '../../../errors/wire.ts'
import type { Auth, RequestLifetime } from '../../../rpc/call.ts'
import { createByteBuffer } from '../../../wire/byte-buffer.ts'
import { decodeUtf8 } from '../../../wire/utf8.ts'
import { openLifetime } from '#lifetime'
import type { Endpoint } from './endpoint.ts'
import { bodyRead, takeBody } from './given-body.ts'
import { givenCaller, reportSiteError } from './given-caller.ts'
import { toResponse } from './fetch-reply.ts'
import { type HttpHead, type HttpIn, type HttpHandler, hasBody } from './parts.ts'
import type { Execution } from './lifetime.ts'
import { readForwarded, type Trust } from './proxy.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { decodeProblem } from '../../io/heap-guard.ts'
import { afterMs } from '../../io/timer.ts'
import { ReadBudget, senderOf } from '../../io/read-budget.ts'
import { isUrl, parseUrl } from '../../../protocol/url.ts'

/** What a framework knows of a web request. */
export interface FetchExtras {
  /** The caller that it authenticated, which becomes `ctx.auth`. It needs a `sub`, and is ignored if the mount has `auth`. Default: none. */
  readonly auth?: Auth | undefined
  /** The body, if it has read it: parsed, as text or as bytes. Default: the body of the request. */
  readonly body?: unknown
  /** The `ctx` of a Worker, so that handlers notice when their client disconnects. Default: none. */
  readonly execution?: Execution | undefined
}

/** Serves an endpoint on runtimes with web requests and responses. */
export function serveFetch(
  endpoint: Endpoint,
): (request: Request, extras?: FetchExtras) => Promise<Response> {
  const { extraEndpoints } = endpoint
  return async (request, extras = {}) => {
    const head = headOf(request, endpoint.trusts)
    // In Bun, the URL of a request without a valid Host is only its path.
    if (!isUrl(request.url)) return toResponse(endpoint.rejectUnread(head, mcpError(BAD_HTTP, {})))
    const handler: HttpHandler = extraEndpoints.find((extra) => extra.owns(head.target)) ?? endpoint
    const rejection = endpoint.document(head) ?? handler.rejectHead(head)
    if (rejection !== undefined) return toResponse(rejection)
    let lifetime: RequestLifetime | undefined
    try {
      lifetime = openLifetime({ sweeper: handler.sweeper, execution: extras.execution })
      const asked = handler.authenticate?.(head) ?? { auth: givenCaller(extras.auth) }
      const caller = asked instanceof Promise ? await asked : asked
      if ('reply' in caller) return toResponse(caller.reply, lifetime)
      const parts: HttpIn = {
        ...head,
        body: '',
        auth: caller.auth,
        session: undefined,
        lifetime,
        onGone: (listener) => {
          if (request.signal.aborted) queueMicrotask(listener)
          else request.signal.addEventListener('abort', listener, { once: true })
        },
      }
      if (hasBody(head)) {
        if (extras.body === undefined) parts.body = await readBody(request, handler, parts)
        else takeBody(parts, extras.body, handler.limits, handler.service)
      }
      return toResponse(await handler.answer(parts), lifetime, { handler, request: parts })
    } catch (thrown) {
      reportSiteError(handler.service, thrown)
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
  const read = (): URL | undefined => (isUrl(url) ? parseUrl(url) : undefined)
  const header = (name: string): string | undefined => {
    if (name !== 'host') return headers.get(name) ?? undefined
    return forwarded?.host ?? headers.get(name) ?? read()?.host
  }
  return {
    method: request.method,
    scheme: forwarded?.scheme ?? (url.startsWith('https:') ? 'https' : 'http'),
    ip: forwarded?.ip,
    header,
    headers: () => Object.fromEntries(headers),
    get target() {
      const { pathname, search } = read() ?? { pathname: url, search: '' }
      return `${pathname}${search}`
    },
  }
}

/** Reads the whole body; throws when it is too large, incomplete, or not UTF-8. */
async function readBody(request: Request, { service, limits }: HttpHandler, parts: HttpIn): Promise<string> {
  // A locked body belongs to somebody who is about to read it.
  if (request.bodyUsed || request.body?.locked === true) throw bodyRead()
  const giveUp = (): void => {
    isLate = true
    void reader?.cancel().catch(() => undefined)
  }
  const reading = new ReadBudget(budgetsOf(service, limits).read, limits.httpBytes, {
    caller: () => senderOf(parts, undefined),
    reject: giveUp,
  })
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
  parts.lifetime?.hold(() => isOver, end)
  const timer = afterMs(limits.bodyMs, giveUp)
  if (request.signal.aborted) giveUp()
  else request.signal.addEventListener('abort', giveUp, { once: true })
  try {
    for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
      const problem = reading.take(step.value.length)
      if (problem !== undefined) throw problem
      buffer.append(step.value)
    }
    if (isLate) throw reading.late()
    const problem = decodeProblem(service, limits, buffer.length)
    if (problem !== undefined) throw problem
    const text = decodeUtf8(buffer.view())
    if (text !== undefined) return text
  } catch (thrown) {
    if (thrown instanceof McpError) void reader?.cancel().catch(() => undefined)
    throw thrown instanceof McpError ? thrown : mcpError(PARSE_FAILED, {}, { cause: thrown })
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', giveUp)
    end()
  }
  throw mcpError(PARSE_FAILED, {})
}
