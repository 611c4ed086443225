import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { BODY_BROKEN, BODY_READ } from '../../../errors/http.ts'
import { PARSE_FAILED } from '../../../errors/wire.ts'
import type { ReadBudget } from '../../io/read-budget.ts'
import { afterMs, type Timer } from '../../io/timer.ts'
import type { HttpIn } from './parts.ts'

export interface BodyOptions {
  /** Counts the bytes until it is ended. */
  readonly reading: ReadBudget
  readonly timeoutMs: number
}

/**
 * Reads the whole body unless it is too large, too slow, or not UTF-8. For the request itself, the timeout starts with
 * the first chunk of an incomplete body, because the listener handles clients that send nothing at all. For a stream that
 * a framework passed, it starts at once. `done` is not called if the client disconnects.
 */
export function readBody(
  parts: Pick<HttpIn, 'onGone'> & { readonly request: IncomingMessage },
  body: Readable,
  { reading, timeoutMs }: BodyOptions,
  done: (text: string | McpError) => void,
): void {
  const { request } = parts
  const isPassed = body !== request
  const known = stateOf(body, isPassed)
  if (known !== undefined) return done(known)
  // What a framework made of the body may have any size.
  const announced = isPassed ? NaN : Number(request.headers['content-length'])
  const tooLarge = reading.announce(announced)
  if (tooLarge !== undefined) return done(tooLarge)
  let chunks: Buffer[] = []
  let finished = false
  let timer: Timer
  body.on('data', (chunk: unknown) => {
    if (finished) return
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!(bytes instanceof Uint8Array)) return finish(mcpError(BODY_READ, {}))
    const problem = reading.take(bytes.length)
    if (problem !== undefined) return finish(problem)
    chunks.push(bytes as Buffer)
    if (timer === undefined && !(reading.size >= announced)) startTimer()
  })
  body.on('end', () => finish(decode()))
  body.on('close', () => finish(isPassed ? mcpError(BODY_BROKEN, {}) : undefined))
  if (isPassed) {
    startTimer()
    body.on('error', (cause) => finish(mcpError(BODY_BROKEN, {}, { cause })))
    parts.onGone(() => {
      if (finished) return
      finish(undefined)
      body.destroy()
    })
  }

  function startTimer(): void {
    timer = afterMs(timeoutMs, () => finish(reading.late()))
  }

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

/** What is known of a body before it is read: its text if it is empty, or why it cannot be read. */
function stateOf(body: Readable, isPassed: boolean): string | McpError | undefined {
  // What was read before will not come again, and neither will the end.
  if (body.readableDidRead) return mcpError(BODY_READ, {})
  if (body.readableEnded) return ''
  if (!isPassed || !body.destroyed) return undefined
  return body.errored === null ? mcpError(BODY_READ, {}) : mcpError(BODY_BROKEN, {}, { cause: body.errored })
}

/** Stops a stream that a framework made of a request, and lets the rest of the request come in without it. */
export function discard(request: IncomingMessage, passed: Readable): void {
  request.unpipe()
  request.resume()
  passed.destroy()
}
