import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { BODY_READ } from '../../../errors/http.ts'
import { PARSE_FAILED } from '../../../errors/wire.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { ReadBudget } from '../../io/read-budget.ts'
import { afterMs, type Timer } from '../../io/timer.ts'

/** A request that a framework may have processed: body parsed, caller authenticated. */
export type NodeRequest = IncomingMessage & {
  readonly body?: unknown
  auth?: Auth | undefined
  /** The full URL; frameworks remove the mount path from `url`. */
  readonly originalUrl?: string
}

/** The body that the framework passed or left on the request, or else the stream to read it from. */
export function bodyOf(request: NodeRequest, passed: unknown): unknown {
  // Express passes `next` where others pass the body.
  if (passed !== undefined && typeof passed !== 'function') return passed
  // Some parsers leave an empty object even if they did not read the body.
  if (request.body === undefined || request.readableDidRead === false) return request
  return request.body
}

/** Whether a body is still to be read. */
export function isStream(body: unknown): body is Readable {
  return typeof (body as Partial<Readable> | null)?.pipe === 'function'
}

/**
 * Reads the whole body unless it is too large, too slow, or not UTF-8. Its bytes count until `reading` is ended. The
 * timeout starts with the first chunk of an incomplete body; the listener handles clients that send nothing at all.
 */
export function readBody(
  body: Readable,
  announced: number,
  reading: ReadBudget,
  timeoutMs: number,
  done: (text: string | McpError) => void,
): void {
  // What was read before will not come again, and neither will the end.
  if (body.readableDidRead) return done(mcpError(BODY_READ, {}))
  if (body.readableEnded) return done('')
  const tooLarge = reading.announce(announced)
  if (tooLarge !== undefined) return done(tooLarge)
  let chunks: Buffer[] = []
  let finished = false
  let timer: Timer
  body.on('data', (chunk: Buffer | string) => {
    if (finished) return
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const problem = reading.take(bytes.length)
    if (problem !== undefined) return finish(problem)
    chunks.push(bytes)
    if (timer === undefined && !(reading.size >= announced)) {
      timer = afterMs(timeoutMs, () => finish(reading.late()))
    }
  })
  body.on('end', () => finish(decode()))
  body.on('close', () => finish(undefined))

  function finish(result: string | McpError | undefined): void {
    if (finished) return
    finished = true
    clearTimeout(timer)
    chunks = []
    if (typeof result !== 'string') reading.end()
    if (result !== undefined) done(result)
  }

  function decode(): string | McpError {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    return isUtf8(bytes) ? bytes.toString('utf8') : mcpError(PARSE_FAILED, {})
  }
}
