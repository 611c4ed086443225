import type { Source } from './parts.ts'

/** How many characters are converted to bytes at once. */
const PIECE = 65_536

/**
 * A long text, in parts, as a body that is converted to bytes only as far as the client reads it. One that leaves costs nothing
 * more. The parts are not joined, because that would copy them.
 */
export function longText(texts: readonly string[]): Source {
  /** The current part, the position in it, and how much is left of all. */
  let part = 0
  let at = 0
  let left = texts.reduce((sum, { length }) => sum + length, 0)
  let tell: (held: number, left: number) => void = () => undefined
  let stop: (error: Error) => void = () => undefined
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = (error) => controller.error(error)
      },
      pull(controller) {
        const piece = nextPiece()
        controller.enqueue(Buffer.from(piece))
        left -= piece.length
        tell(left, left)
        if (left === 0) controller.close()
      },
      // Nothing of it counts any more.
      cancel: () => tell(0, 0),
    },
    { highWaterMark: 0 },
  )
  return {
    readable,
    watch(listener) {
      tell(0, 0)
      tell = listener
      tell(left, left)
    },
    fail: (error) => stop(error),
  }

  function nextPiece(): string {
    let piece = ''
    while (piece.length < PIECE && part < texts.length) {
      const text = texts[part] as string
      const end = endOfPiece(text, at, PIECE - piece.length)
      piece += text.slice(at, end)
      at = end
      if (at < text.length) continue
      part++
      at = 0
    }
    return piece
  }
}

/** Where a piece ends: never between the two units of one character. */
function endOfPiece(text: string, at: number, size: number): number {
  const end = Math.min(at + size, text.length)
  const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return isHalf ? end + 1 : end
}
