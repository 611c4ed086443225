import { mcpError } from '../../protocol/errors.ts'
import type { Auth } from '../../rpc/call.ts'
import { decodeUtf8 } from '../../wire/utf8.ts'
import type { Endpoint } from './answer.ts'
import { NO_HEADERS, type HttpIn, type HttpOut, type Sink } from './parts.ts'

export interface FetchExtras {
  readonly auth?: Auth
}

/** Serves an endpoint to runtimes that speak web requests and responses. */
export function serveFetch(
  endpoint: Endpoint,
): (request: Request, extras?: FetchExtras) => Promise<Response> {
  return async (request, extras) => {
    const head = { method: request.method, header: (name: string) => request.headers.get(name) ?? undefined }
    const refused = endpoint.refuse(head)
    if (refused !== undefined) return toResponse(refused)
    const body = request.method === 'POST' ? await readBody(request, endpoint) : ''
    if (typeof body !== 'string') return toResponse(body)
    const parts: HttpIn = {
      ...head,
      body,
      auth: extras?.auth,
      onGone: (listener) => request.signal.addEventListener('abort', listener, { once: true }),
    }
    return toResponse(await endpoint.answer(parts))
  }
}

async function readBody(request: Request, endpoint: Endpoint): Promise<string | HttpOut> {
  const limit = endpoint.limits.httpBytes
  const tooLarge = (): HttpOut =>
    endpoint.fail(undefined, mcpError('too_large', { limit }), undefined, NO_HEADERS)
  if (Number(request.headers.get('content-length')) > limit) return tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
    size += step.value.length
    if (size > limit) {
      await reader?.cancel()
      return tooLarge()
    }
    chunks.push(step.value)
  }
  const text = decodeUtf8(joined(chunks, size))
  return text ?? endpoint.fail(undefined, mcpError('parse_failed', {}), undefined, NO_HEADERS)
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function toResponse(out: HttpOut): Response {
  const { status, headers } = out
  if (out.stream === undefined) return new Response(out.body ?? null, { status, headers })
  const { stream } = out
  let gone: (() => void) | undefined
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let open = true
      let waiting = 0
      const sink: Sink = {
        write(text) {
          if (!open) return
          controller.enqueue(encoder.encode(text))
          waiting = Math.max(0, 1 - (controller.desiredSize ?? 0)) * text.length
        },
        end() {
          if (open) controller.close()
          open = false
        },
        get waiting() {
          return waiting
        },
        onGone: (listener) => {
          gone = () => {
            open = false
            listener()
          }
        },
      }
      stream.attach(sink)
    },
    cancel: () => gone?.(),
  })
  return new Response(body, { status, headers })
}
