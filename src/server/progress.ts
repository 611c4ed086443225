import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Call } from '../rpc/call.ts'

/** Reports the progress of a request; `content` is partial output for clients that accept it. */
export type ReportProgress = (progress: number, total?: number, message?: string, content?: unknown) => void

/** The token with which a client requests progress. */
export function progressToken(call: Call): string | number | undefined {
  const token = (call.params['_meta'] as JsonObject | undefined)?.[META.progressToken]
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined
}

/** Reports the progress of one request, with increasing values only. */
export function createProgress(call: Call): ReportProgress {
  if (call.channel.report !== undefined) return call.channel.report
  const token = progressToken(call)
  let last = Number.NEGATIVE_INFINITY
  return (progress, total, message) => {
    if (token === undefined || !(progress > last)) return
    last = progress
    // Undefined members are not serialised.
    call.emit('notifications/progress', { progressToken: token, progress, total, message })
  }
}
