import { nextTask } from '../../../base/next-task.ts'
import { mcpError } from '../../../errors/error.ts'
import { ANSWER_TOO_LARGE } from '../../../errors/client.ts'
import { createByteBuffer } from '../../../wire/byte-buffer.ts'
import { bomLength, decodeUtf8 } from '../../../wire/utf8.ts'
import type { Count } from './holds.ts'

const REST_BYTES = 65_536
const REST_MS = 1000
/** The number of chunks after which others get a turn, because chunks that are at hand follow each other without a pause. */
const TURN = 512

/** Reads a whole reply of at most `maxBytes`, counted after decompression; undefined when it is not UTF-8. */
export async function readBody(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
  count: Count,
): Promise<string | undefined> {
  const { headers, body } = response
  // A short length proves nothing: browsers hide from pages of other origins that a reply is compressed.
  if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  if (body === null) return ''
  const buffer = createByteBuffer(maxBytes)
  let size = 0
  try {
    for await (const chunk of chunksOf(body.getReader(), signal)) {
      count(chunk.length)
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      buffer.append(chunk)
    }
    const bytes = buffer.view()
    return decodeUtf8(bytes.subarray(bomLength(bytes)))
  } finally {
    count(-size)
  }
}

/** The chunks of a body. Aborting ends the iteration at once, even if the body ignores the signal. */
export async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stop = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (let at = 1; ; at++) {
      const { done, value } = await reader.read()
      if (at % TURN === 0) await nextTask()
      if (signal.aborted) throw signal.reason
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Reads the rest of a stream so that its connection can be reused; cancels a stream that does not end soon. */
export async function readRest(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  leftovers: Set<() => void>,
): Promise<void> {
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  const timer = setTimeout(cancel, REST_MS)
  ;(timer as { unref?(): void }).unref?.()
  leftovers.add(cancel)
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      bytes += value.length
      if (bytes > REST_BYTES) return cancel()
    }
  } catch {
    // The connection broke, which does not matter here.
  } finally {
    leftovers.delete(cancel)
    clearTimeout(timer)
  }
}

export function tooLarge(limit: number, unit = 'bytes'): Error {
  return mcpError(ANSWER_TOO_LARGE, { limit, unit })
}

/** Cancels a reply that is not needed. */
export function dropBody({ body }: Response): void {
  if (body !== null && !body.locked) void body.cancel().catch(() => undefined)
}
