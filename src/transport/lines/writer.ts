import type { Writable } from 'node:stream'
import { mcpError } from '../../errors/error.ts'
import { OVERLOADED } from '../../errors/rpc.ts'
import { STREAM_LOST } from '../../errors/transport.ts'
import { SOON } from '../../errors/retry-after.ts'
import { LINES, type Framing } from './framing.ts'

export interface LineWriter {
  /** Queues a message; throws when too much is unread by the other side. */
  readonly write: (text: string) => void
  /** Queues a message; resolves when it was written, and rejects when the connection is closed. */
  send(text: string): Promise<void>
  /** Writes queued messages at once. */
  flush(): void
}

const BATCH_CHARS = 65_536

/** Batches messages of the same turn. The buffer is bounded by `maxWaiting` plus one message. */
export function createLineWriter(
  output: Writable,
  maxWaiting: number,
  { encode, encoding }: Framing = LINES,
): LineWriter {
  let batch = ''
  let taken: ((error: Error | null | undefined) => void)[] = []

  return { write, send, flush }

  function write(text: string): void {
    const waiting = output.writableLength + batch.length
    if (waiting > maxWaiting) throw mcpError(OVERLOADED, {}, SOON)
    if (batch === '') queueMicrotask(flush)
    batch += encode(text)
    if (batch.length > BATCH_CHARS) flush()
  }

  function send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      taken.push((error) => (error == null ? resolve() : reject(lost(error))))
      try {
        write(text)
      } catch (thrown) {
        taken.pop()
        reject(thrown as Error)
      }
    })
  }

  function flush(): void {
    if (batch === '') return
    const text = batch
    const waiting = taken
    batch = ''
    if (waiting.length === 0) return void output.write(text, encoding)
    taken = []
    output.write(text, encoding, (error) => waiting.forEach((settle) => settle(error)))
  }
}

function lost(cause: Error): Error {
  return mcpError(STREAM_LOST, { method: 'the message' }, { cause })
}
