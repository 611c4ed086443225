import { McpError } from '../../../errors/error.ts'
import { dropBody } from './body.ts'
import { mediaTypeOf, retryAfterOf } from './headers.ts'
import { pause } from '../../../base/backoff.ts'
import type { ReconnectBackoff } from './reconnect-backoff.ts'
import type { Place } from './stream.ts'

export interface ResumeOptions {
  readonly place: Place
  readonly backoff: ReconnectBackoff
  readonly signal: AbortSignal
  /** Whether the number of attempts is limited. */
  readonly counted: boolean
  /** Opens the stream again after an event, if there was one. */
  get(lastId: string | undefined): Promise<Response>
  /** Called before each wait. */
  onWait?(ms: number): void
}

/** Statuses that are worth another attempt. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429])

/** Reconnects to a stream: waits as the server asked, and longer after each failure. Undefined if all attempts fail. */
export async function resume(options: ResumeOptions, waitFirst: boolean): Promise<Response | undefined> {
  const { place, backoff, signal, counted, onWait } = options
  let wait: number | undefined = waitFirst ? backoff.next(place.retryMs, true) : undefined
  for (;;) {
    if (wait !== undefined) {
      if (counted && backoff.spent) return undefined
      onWait?.(wait)
      await pause(wait, signal)
      signal.throwIfAborted()
    }
    const response = await attempt(options)
    if (response !== undefined && !isPassing(response.status)) return response
    backoff.failed()
    wait = backoff.next(place.retryMs, false)
    if (response === undefined) continue
    wait = Math.max(wait, retryAfterOf(response.headers) ?? 0)
    dropBody(response)
  }
}

/** Whether a reply is an event stream. */
export function isStream({ status, headers }: Response): boolean {
  return status === 200 && mediaTypeOf(headers) === 'text/event-stream'
}

function isPassing(status: number): boolean {
  return status >= 500 || PASSING.has(status)
}

async function attempt({ get, place }: ResumeOptions): Promise<Response | undefined> {
  try {
    return await get(place.lastId)
  } catch (error) {
    if (error instanceof McpError && isTemporary(error)) return undefined
    throw error
  }
}

/** Whether the next attempt may succeed. A login that failed for good would only ask a person again. */
function isTemporary({ kind, retryable }: McpError): boolean {
  return kind === 'connect_failed' || kind === 'stream_lost' || (kind === 'login_failed' && retryable)
}
