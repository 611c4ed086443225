import { onWorkers } from '../../../base/runtime.ts'
import { inLifetime, type RequestLifetime } from '../../../rpc/call.ts'
import { replyText } from '../../../wire/reply.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { WriteBudget } from '../../io/write-budget.ts'
import { callerOf, type HttpHandler, type HttpIn, type HttpOut, type Sink, type Source } from './parts.ts'

/** Replies up to this size are not counted, and larger ones are handed over in pieces of this size. */
const SMALL_BYTES = 65_536

/** The request that a reply answers, and who counts what is unread of it. */
interface Answered {
  readonly handler: HttpHandler
  readonly request: HttpIn
}

/** Turns a reply into a web response. The unread bytes of large replies and streams are counted for `answered`. */
export function toResponse(
  { status, headers, cookies = [], body, bytes, source, stream }: HttpOut,
  lifetime?: RequestLifetime,
  answered?: Answered,
): Response {
  // On Workers, a timer ends with the request that started it, and the platform takes what is unread.
  const counted = onWorkers ? undefined : answered
  const whole = bytes ?? (body === undefined ? null : replyText(body))
  const content =
    source === undefined
      ? stream === undefined
        ? toBody(whole, counted)
        : toReadable(stream, lifetime, counted, answered)
      : fromSource(source, counted)
  const response = new Response(content, { status, headers })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  if (stream === undefined) lifetime?.close()
  return response
}

/** Creates the budget for what is unread of a reply: `left` says how much that is. */
function createBudget({ handler, request }: Answered, left: () => number, abort: () => void): WriteBudget {
  const { service, limits } = handler
  return new WriteBudget({
    pool: budgetsOf(service, limits).write,
    caller: callerOf(request),
    outlet: () => ({ _handle: { writeQueueSize: left() } }),
    patienceMs: limits.bodyMs,
    abort: () => {
      service.observers.count('slow_reader')
      abort()
    },
  })
}

/** The body of a reply. A large one is counted until the runtime has taken it. */
function toBody(
  whole: string | Uint8Array<ArrayBuffer> | null,
  answered: Answered | undefined,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (answered === undefined || whole === null || whole.length <= SMALL_BYTES) return whole
  let left = typeof whole === 'string' ? new TextEncoder().encode(whole) : whole
  let abort: () => void = () => undefined
  const sending = createBudget(
    answered,
    () => left.length,
    () => abort(),
  )
  const take = (bytes: Uint8Array<ArrayBuffer>): void => {
    left = bytes
    sending.set(bytes.length)
  }
  take(left)
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      abort = () => {
        take(left.subarray(left.length))
        controller.error(tooSlow())
      }
    },
    pull(controller) {
      controller.enqueue(left.subarray(0, SMALL_BYTES))
      take(left.subarray(SMALL_BYTES))
      if (left.length === 0) controller.close()
    },
    cancel: () => take(left.subarray(left.length)),
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** Ends a stream when the token that opened it is no longer good. Returns a function that prevents it. */
function holdOpen(leased: Answered | undefined, sink: Sink, gone: () => void): () => void {
  if (leased === undefined) return () => undefined
  return leased.handler.service.leases.hold(leased.request.auth, () => {
    sink.end()
    gone()
  })
}

/** A body that is read as the runtime takes it. What was produced of it is counted until then. */
function fromSource(source: Source, answered: Answered | undefined): ReadableStream<Uint8Array> {
  if (answered === undefined) return source.readable
  let left = 0
  const sending = createBudget(
    answered,
    () => left,
    () => source.fail(tooSlow()),
  )
  source.watch((held, rest) => {
    left = rest
    sending.set(held > SMALL_BYTES ? held : 0)
  })
  return source.readable
}

/** The error of a body whose client reads too slowly. Some servers print it for each such client, so it has no stack. */
function tooSlow(): Error {
  const error = new Error('the client reads too slowly')
  error.stack = `${error.name}: ${error.message}`
  return error
}

/** The stream of a reply. Whatever writes to it, the controller is used only on behalf of its own request. */
function toReadable(
  stream: NonNullable<HttpOut['stream']>,
  lifetime: RequestLifetime | undefined,
  answered: Answered | undefined,
  leased: Answered | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let gone: () => void = () => undefined
  let open = true
  let cancelled = false
  let sending: WriteBudget | undefined
  let recount: () => number = () => 0
  let release: () => void = () => undefined
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
      if (answered !== undefined && sink.waiting > SMALL_BYTES)
        sending ??= createBudget(answered, recount, () => abort())
      recount()
    }
    const close = (how: () => void): void => {
      if (!open) return
      open = false
      release()
      inLifetime(lifetime, () => {
        if (!cancelled) how()
        lifetime?.close()
      })
    }
    const fail = (): void => controller.error(tooSlow())
    const sink: Sink = {
      write,
      end: (...texts) => {
        const text = texts.join('')
        if (text !== '') write(text)
        close(() => controller.close())
      },
      abort: () => {
        close(fail)
        recount()
      },
      get waiting() {
        return deferred + Math.max(0, -(controller.desiredSize ?? 0))
      },
      onGone: (listener) => void (gone = listener),
    }
    // Even if the stream has ended, its last bytes may be unread.
    const abort = (): void => {
      open = false
      fail()
      cancel()
    }
    recount = () => {
      const waiting = cancelled ? 0 : sink.waiting
      sending?.set(waiting)
      return waiting
    }
    stream.attach(sink)
    if (open) release = holdOpen(leased, sink, () => gone())
  }
  const cancel = (): void => {
    cancelled = true
    open = false
    release()
    recount()
    gone()
    lifetime?.close()
  }
  lifetime?.hold(() => !open, cancel)
  // A high-water mark of 0 makes `desiredSize` count unread bytes from the first one on.
  const strategy = { highWaterMark: 0, size: (chunk?: Uint8Array) => chunk?.byteLength ?? 0 }
  return new ReadableStream({ start, pull: () => void recount(), cancel }, strategy)
}
