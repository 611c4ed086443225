import { Buffer } from 'node:buffer'
import { createLineReader } from '../../wire/lines.ts'
import { plainText } from '../lines/plain.ts'

export interface StderrReader {
  push(chunk: Buffer): void
  end(): void
  /** The last lines that were written. */
  lastLines(): readonly string[]
}

const LINE_BYTES = 8192
const TAIL_BYTES = 4096
const TAIL_LINES = 20
const TAIL_LINE_CHARS = 240
const WINDOW_MS = 1000
const WINDOW_BYTES = 262_144
const LF = 0x0a

/**
 * Passes on the stderr output of a process line by line, without terminal escapes. Output beyond the rate limit is read,
 * so that the process does not block, but omitted.
 */
export function createStderrReader(note: (line: string) => void): StderrReader {
  const lines = createLineReader({
    maxBytes: LINE_BYTES,
    decode: toText,
    onLine: (line) => note(plainText(line)),
    onOversize: () => note(`(a line of more than ${LINE_BYTES} bytes was omitted)`),
    onBadEncoding: () => undefined,
  })
  let tail: Buffer = Buffer.alloc(0)
  let windowEnd = 0
  let room = 0
  let omitted = 0

  return { push, end, lastLines }

  function push(chunk: Buffer): void {
    tail = (chunk.length < TAIL_BYTES ? Buffer.concat([tail, chunk]) : chunk).subarray(-TAIL_BYTES)
    const now = performance.now()
    if (now > windowEnd) {
      windowEnd = now + WINDOW_MS
      room = WINDOW_BYTES
    }
    if (chunk.length > room) return omit(chunk)
    room -= chunk.length
    lines.push(omitted === 0 ? chunk : resume(chunk))
  }

  function omit(chunk: Buffer): void {
    if (omitted === 0) lines.end()
    omitted += chunk.length
  }

  /** The chunk from its first complete line on. */
  function resume(chunk: Buffer): Buffer {
    note(`(${omitted} bytes were omitted)`)
    omitted = 0
    const stop = chunk.indexOf(LF)
    return stop < 0 ? chunk : chunk.subarray(stop + 1)
  }

  function end(): void {
    lines.end()
    if (omitted > 0) note(`(${omitted} bytes were omitted)`)
    omitted = 0
  }

  function lastLines(): readonly string[] {
    const all = plainText(tail.toString('utf8')).split('\n')
    const recent = all.map((line) => line.trim().slice(0, TAIL_LINE_CHARS)).filter((line) => line !== '')
    return recent.slice(-TAIL_LINES)
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
