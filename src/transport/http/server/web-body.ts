import { inNextTurn } from '../../../base/turn.ts'
import type { Source } from './parts.ts'

/** A body that ends within so many bytes, or pieces, without waiting for anything is sent as a whole. */
const SMALL_BYTES = 65_536
const SMALL_PIECES = 64

/** The body of a reply: as a whole, with a length, or as a stream. */
export type WebBody =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly source?: never }
  | { readonly bytes?: never; readonly source: Source }

export interface WebBodyOptions {
  /** Aborts when the client has left: the body is cancelled. */
  readonly gone: AbortSignal
  /** Called with the error of a stream that breaks. */
  onBroken(thrown: unknown): void
  /** Called when a stream has ended, in whatever way. */
  onEnd(): void
}

/** Reads a body as far as it is there at once. What is longer or comes later is read as the client reads it. Throws if it breaks before. */
export async function readWebBody(
  body: ReadableStream<Uint8Array>,
  options: WebBodyOptions,
): Promise<WebBody> {
  const { gone, onEnd } = options
  const reader = body.getReader()
  const cancel = async (reason: unknown): Promise<void> => {
    onEnd()
    // What cleaning up throws concerns nobody who could still be told.
    await reader.cancel(reason).catch(() => undefined)
  }
  if (gone.aborted) void cancel(gone.reason)
  else gone.addEventListener('abort', () => void cancel(gone.reason), { once: true })
  const pieces: Uint8Array[] = []
  let size = 0
  const later = new Promise<undefined>((resolve) => inNextTurn(() => resolve(undefined)))
  let next: Begun['next']
  while (size <= SMALL_BYTES && pieces.length < SMALL_PIECES) {
    next = reader.read()
    const step = await Promise.race([next, later])
    if (step === undefined) break
    if (step.done) return { bytes: joined(pieces, size) }
    if (!(step.value instanceof Uint8Array)) void cancel(undefined)
    pieces.push(checked(step.value))
    size += step.value.length
    next = undefined
  }
  // It may fail before somebody reads it.
  next?.catch(() => undefined)
  return { source: toSource({ reader, next, pieces, cancel }, options) }
}

/** A body of which the beginning was read. */
interface Begun {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  readonly pieces: Uint8Array[]
  /** The next piece, if it is being read. */
  next: ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']> | undefined
  cancel(reason: unknown): Promise<void>
}

/** The rest of a body. It is given in small pieces, so that what the client has not taken is known. */
function toSource(begun: Begun, { gone, onBroken, onEnd }: WebBodyOptions): Source {
  const { reader, pieces, cancel } = begun
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  /** A part of a piece keeps the memory of all of it. */
  let held = size
  let left = size
  let onHeld: Parameters<Source['watch']>[0] | undefined
  let fail: Source['fail'] = () => undefined
  const hold = (bytes: number, rest: number): void => {
    held = bytes
    left = rest
    onHeld?.(bytes, rest)
  }
  let isDropped = false
  const drop = (reason: unknown): Promise<void> => {
    isDropped = true
    pieces.length = 0
    hold(0, 0)
    return cancel(reason)
  }
  if (gone.aborted) void drop(gone.reason)
  else gone.addEventListener('abort', () => void drop(gone.reason), { once: true })
  const underlying: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      fail = (error) => {
        void drop(error)
        controller.error(error)
      }
    },
    async pull(controller) {
      try {
        if (pieces.length === 0) {
          // Whoever reads on has sent what it got.
          hold(0, 0)
          const { done, value } = await (begun.next ?? reader.read())
          begun.next = undefined
          if (done) {
            onEnd()
            return controller.close()
          }
          pieces.push(checked(value))
          hold(value.length, value.length)
        }
        const part = takePart(pieces)
        controller.enqueue(part)
        hold(held, left - part.length)
      } catch (thrown) {
        // A client that leaves while the next piece is awaited has closed the stream.
        if (!isDropped) onBroken(thrown)
        void drop(thrown)
        throw thrown
      }
    },
    cancel: drop,
  }
  return {
    readable: new ReadableStream(underlying, { highWaterMark: 0 }),
    fail: (error) => fail(error),
    watch(listener) {
      onHeld?.(0, 0)
      onHeld = listener
      listener(held, left)
    },
  }
}

/** Removes a small part from the first piece. */
function takePart(pieces: Uint8Array[]): Uint8Array {
  const first = pieces[0] as Uint8Array
  if (first.length <= SMALL_BYTES) pieces.shift()
  else pieces[0] = first.subarray(SMALL_BYTES)
  return first.subarray(0, SMALL_BYTES)
}

function checked(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece
  throw new TypeError('a stream in a Response gave a piece that is not a Uint8Array')
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
