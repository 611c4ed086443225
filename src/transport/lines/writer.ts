import type { Writable } from 'node:stream'
import { mcpError } from '../../errors/error.ts'
import { OVERLOADED } from '../../errors/rpc.ts'
import { STREAM_LOST } from '../../errors/transport.ts'
import { LINES, type Framing } from './framing.ts'

export interface LineWriter {
  /** Takes a message; throws when too much waits for the other side to read. */
  readonly write: (text: string) => void
  /** Takes a message; resolves when the other side has room for it, and rejects when it is gone. */
  send(text: string): Promise<void>
  /** Hands over at once what was taken. */
  flush(): void
}

const BATCH_LETTERS = 65_536

/** Writes messages. Those of the same moment leave together, and at most `maxWaiting` and one more wait. */
export function createLineWriter(
  output: Writable,
  maxWaiting: number,
  { seal, encoding }: Framing = LINES,
): LineWriter {
  let batch = ''
  let taken: ((error: Error | null | undefined) => void)[] = []

  return { write, send, flush }

  function write(text: string): void {
    const waiting = output.writableLength + batch.length
    if (waiting > maxWaiting) throw mcpError(OVERLOADED, {}, { retryAfterMs: 1000 })
    if (batch === '') queueMicrotask(flush)
    batch += seal(text)
    if (batch.length > BATCH_LETTERS) flush()
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
