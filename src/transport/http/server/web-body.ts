import { inNextTurn } from '../../../base/turn.ts'

/** A body that ends within so many bytes, or pieces, without waiting for anything is sent as a whole. */
const SMALL_BYTES = 65_536
const SMALL_PIECES = 64

/** The body of a reply: as a whole, with a length, or as a stream. */
export type WebBody =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly source?: never }
  | { readonly bytes?: never; readonly source: ReadableStream<Uint8Array> }

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
  { gone, onBroken, onEnd }: WebBodyOptions,
): Promise<WebBody> {
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
  let next = reader.read()
  for (
    let step = await Promise.race([next, later]);
    step !== undefined;
    step = await Promise.race([next, later])
  ) {
    if (step.done) return { bytes: joined(pieces, size) }
    if (!(step.value instanceof Uint8Array)) void cancel(undefined)
    pieces.push(checked(step.value))
    size += step.value.length
    next = reader.read()
    if (size > SMALL_BYTES || pieces.length >= SMALL_PIECES) break
  }
  // It may fail before somebody reads it.
  next.catch(() => undefined)
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift()
        if (piece !== undefined) return controller.enqueue(piece)
        try {
          const { done, value } = await next
          if (done) {
            onEnd()
            return controller.close()
          }
          controller.enqueue(checked(value))
          next = reader.read()
          next.catch(() => undefined)
        } catch (thrown) {
          onBroken(thrown)
          void cancel(thrown)
          throw thrown
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
  return { source }
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
