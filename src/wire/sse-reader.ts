import { createByteBuffer } from './byte-buffer.ts'
import { bomLength } from './utf8.ts'

/** An event from a stream. An event with only an id has empty data. */
export interface ReadEvent {
  readonly data: string
  readonly id?: string
  readonly event?: string
}

export interface EventReaderOptions {
  /** The maximum size of one event: its buffered lines and the line being read. */
  readonly maxBytes: number
  readonly onEvent: (event: ReadEvent) => void
  readonly onRetry?: (ms: number) => void
  /** An event was larger than `maxBytes` and is discarded. */
  readonly onOversize: () => void
}

export interface EventReader {
  push(chunk: Uint8Array): void
  /** The bytes of the event that is not complete. */
  readonly held: number
  /** The last event id, for resuming. */
  readonly lastEventId: string | undefined
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
/** The number of bytes that are searched without `indexOf`. */
const NEAR = 16

/** Reads an event stream in chunks of any size. An incomplete last event is never delivered. */
export function createEventReader(options: EventReaderOptions): EventReader {
  const { maxBytes, onOversize } = options
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const pending = createByteBuffer(maxBytes)
  const block = createBlock(options)
  let lineLength = 0
  let discarding = false
  let isFirst = true
  let afterCr = false

  return {
    push,
    get held() {
      return block.kept + pending.length
    },
    get lastEventId() {
      return block.lastEventId
    },
  }

  function push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    let start = afterCr && chunk[0] === LF ? 1 : 0
    afterCr = false
    let lf = indexIn(chunk, LF, start)
    let cr = indexIn(chunk, CR, start)
    while (lf >= 0 || cr >= 0) {
      const stop = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf
      // Comments are not decoded, since a stream may consist of them.
      const isShort = discarding || block.kept + stop - start <= maxBytes
      if (lineLength === 0 && isShort && chunk[start] === COLON) isFirst = false
      else finishLine(chunk.subarray(start, stop))
      start = stop + 1
      afterCr = stop === cr && start === chunk.length
      if (stop === cr && start === lf) start++
      if (lf >= 0 && lf < start) lf = indexIn(chunk, LF, start)
      if (cr >= 0 && cr < start) cr = indexIn(chunk, CR, start)
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }

  function keep(bytes: Uint8Array): void {
    lineLength += bytes.length
    if (discarding) return
    if (block.kept + lineLength <= maxBytes) return pending.append(bytes)
    discarding = true
    pending.clear()
    block.forget()
    onOversize()
  }

  function finishLine(bytes: Uint8Array): void {
    keep(bytes)
    const isEmpty = lineLength === 0
    lineLength = 0
    if (!discarding) return readLine(pending.view())
    isFirst = false
    if (isEmpty) discarding = false
  }

  function readLine(bytes: Uint8Array): void {
    const line = decoder.decode(isFirst ? bytes.subarray(bomLength(bytes)) : bytes)
    isFirst = false
    pending.clear()
    block.read(line, bytes.length + 1)
  }
}

/** Like `indexOf`, which takes longer to begin than short lines take to search. */
function indexIn(bytes: Uint8Array, byte: number, from: number): number {
  const near = Math.min(from + NEAR, bytes.length)
  for (let at = from; at < near; at++) if (bytes[at] === byte) return at
  return bytes.indexOf(byte, near)
}

interface Block {
  /** The number of bytes buffered for the current event. */
  readonly kept: number
  readonly lastEventId: string | undefined
  read(line: string, size: number): void
  forget(): void
}

/** The fields of the current event. */
function createBlock({ onEvent, onRetry }: EventReaderOptions): Block {
  let data: string[] = []
  let id: string | undefined
  let event = ''
  let kept = 0
  let lastEventId: string | undefined

  return {
    get kept() {
      return kept
    },
    get lastEventId() {
      return lastEventId
    },
    read,
    forget,
  }

  function read(line: string, size: number): void {
    if (line === '') return dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else return name === 'retry' ? readRetry(value) : undefined
    kept += size
  }

  function readRetry(value: string): void {
    const ms = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN
    if (Number.isSafeInteger(ms)) onRetry?.(ms)
  }

  function dispatch(): void {
    const read = { data: data.join('\n'), ...(id !== undefined && { id }), ...(event !== '' && { event }) }
    const isEvent = data.length > 0 || id !== undefined
    lastEventId = id ?? lastEventId
    forget()
    if (isEvent) onEvent(read)
  }

  function forget(): void {
    data = []
    id = undefined
    event = ''
    kept = 0
  }
}
