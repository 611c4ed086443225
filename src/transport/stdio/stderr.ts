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
 * Offers what a process writes to stderr line by line, without terminal escapes. A process that writes more than
 * anyone reads is still read, so that it does not stand still, but what is too much is left out.
 */
export function createStderrReader(note: (line: string) => void): StderrReader {
  const lines = createLineReader({
    maxBytes: LINE_BYTES,
    decode: toText,
    onLine: (line) => note(plainText(line)),
    onOversize: () => note(`(a line of more than ${LINE_BYTES} bytes was left out)`),
    onBadEncoding: () => undefined,
  })
  let tail: Buffer = Buffer.alloc(0)
  let windowEnd = 0
  let room = 0
  let leftOut = 0

  return { push, end, lastLines }

  function push(chunk: Buffer): void {
    tail = (chunk.length < TAIL_BYTES ? Buffer.concat([tail, chunk]) : chunk).subarray(-TAIL_BYTES)
    const now = performance.now()
    if (now > windowEnd) {
      windowEnd = now + WINDOW_MS
      room = WINDOW_BYTES
    }
    if (chunk.length > room) return leaveOut(chunk)
    room -= chunk.length
    lines.push(leftOut === 0 ? chunk : resume(chunk))
  }

  function leaveOut(chunk: Buffer): void {
    if (leftOut === 0) lines.end()
    leftOut += chunk.length
  }

  /** The chunk from its first whole line. */
  function resume(chunk: Buffer): Buffer {
    note(`(${leftOut} bytes were left out)`)
    leftOut = 0
    const stop = chunk.indexOf(LF)
    return stop < 0 ? chunk : chunk.subarray(stop + 1)
  }

  function end(): void {
    lines.end()
    if (leftOut > 0) note(`(${leftOut} bytes were left out)`)
    leftOut = 0
  }

  function lastLines(): readonly string[] {
    const all = plainText(tail.toString('utf8')).split('\n')
    const said = all.map((line) => line.trim().slice(0, TAIL_LINE_CHARS)).filter((line) => line !== '')
    return said.slice(-TAIL_LINES)
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
