import { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { Deadline } from '../rpc/deadline.ts'
import { reportProgress } from '../rpc/report-progress.ts'
import type { ConnectionOptions, Live, RequestOptions } from './connection-options.ts'
import { encodeNotification } from './encode-call.ts'
import type { Progress } from './options.ts'

/** Starts the timeouts of a request: its own, or those of the connection. */
export function startDeadline(
  method: string,
  { idleMs, totalMs, clock, signal }: RequestOptions,
  usual: Pick<ConnectionOptions, 'idleMs' | 'totalMs'>,
): Deadline {
  const lasting = methodRow(method)?.lasting === true
  return new Deadline({
    method,
    idleMs: lasting ? Infinity : (idleMs ?? usual.idleMs),
    totalMs: lasting ? Infinity : (totalMs ?? usual.totalMs),
    clock,
    signal,
  })
}

/** The function that receives the progress of a request. */
export function progressOf(options: RequestOptions, deadline: Deadline): (params: JsonObject) => void {
  return (params) => {
    deadline.touch()
    const progress = params as unknown as Progress
    if (options.reported !== undefined) options.reported.last = progress
    reportProgress(options.onProgress, deadline, progress)
  }
}

/** How many cancellations are on their way at once, and for how long: over HTTP, each takes a connection. */
const MAX_SENDING = 16
const SEND_MS = 5000

/** Tells the server that nobody waits for a request any more. If it does not accept that in time, those that still wait are dropped. */
export async function sendCancelled(live: Live, requestId: number, cause: unknown): Promise<void> {
  const { transport, agreement, cancelled } = live
  const reason = cause instanceof McpError ? cause.message : 'cancelled'
  cancelled.push({ requestId, reason })
  if (live.cancelling === MAX_SENDING) return
  live.cancelling++
  for (let next = cancelled.shift(); next !== undefined; next = cancelled.shift()) {
    const text = encodeNotification('notifications/cancelled', next, agreement.forms)
    await transport.send(text, SEND_MS).catch((error: unknown) => {
      if ((error as McpError).kind === 'timeout') cancelled.length = 0
    })
  }
  live.cancelling--
}
