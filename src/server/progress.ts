import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Call } from '../rpc/call.ts'

/** Reports how far a request is; `content` is what it has so far, for clients that take it piece by piece. */
export type ReportProgress = (progress: number, total?: number, message?: string, content?: unknown) => void

/** The token under which a client wants to hear of progress. */
export function progressToken(call: Call): string | number | undefined {
  const token = (call.params['_meta'] as JsonObject | undefined)?.[META.progressToken]
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined
}

/** Reports the progress of one request, always rising. */
export function createProgress(call: Call): ReportProgress {
  if (call.channel.report !== undefined) return call.channel.report
  const token = progressToken(call)
  let last = Number.NEGATIVE_INFINITY
  return (progress, total, message) => {
    if (token === undefined || !(progress > last)) return
    last = progress
    // What is undefined is not written.
    call.emit('notifications/progress', { progressToken: token, progress, total, message })
  }
}
