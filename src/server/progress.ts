import { clip } from '../base/clip.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { printable } from '../errors/printable.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Call } from '../rpc/call.ts'
import type { ServerParts } from './parts.ts'

/** Reports the progress of a request; `content` is partial output for clients that accept it. */
export type ReportProgress = (progress: number, total?: number, message?: string, content?: unknown) => void

/** The token with which a client requests progress. */
export function progressToken(call: Call): string | number | undefined {
  const token = (call.params['_meta'] as JsonObject | undefined)?.[META.progressToken]
  return typeof token === 'string' || Number.isInteger(token) ? (token as string | number) : undefined
}

/** Reports the progress of one request, with increasing values only. */
export function createProgress(call: Call, { warnOnce }: Pick<ServerParts, 'warnOnce'>): ReportProgress {
  if (call.channel.report !== undefined) return call.channel.report
  const token = progressToken(call)
  let last = Number.NEGATIVE_INFINITY
  return (progress, total, message) => {
    const odd = problemOf(progress, total, last)
    if (odd !== undefined) {
      const subject = subjectOf(call)
      warnOnce('progress', subject, `${subject} reported ${odd}`)
    }
    if (typeof progress !== 'number' || !(progress > last)) return
    last = progress
    call.task?.progress(message)
    // Undefined members are not serialised.
    if (token !== undefined)
      call.emit('notifications/progress', {
        progressToken: token,
        progress,
        total: typeof total === 'number' ? total : undefined,
        message,
      })
  }
}

/** What is wrong with reported progress, and what to write instead. */
function problemOf(progress: unknown, total: unknown, last: number): string | undefined {
  const wrong = typeof progress !== 'number' || Number.isNaN(progress)
  if (wrong || (total !== undefined && typeof total !== 'number')) {
    const what = wrong ? `the progress ${shown(progress)}` : `the total ${shown(total)}`
    return `${what}, which is not a number; write progress(50, 100)`
  }
  if (progress > last) return undefined
  return `the progress ${progress} after ${last}, which was not sent: progress must increase`
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? JSON.stringify(value) : untrustedText(value)).slice(0, 64)
}

function subjectOf({ method, params }: Call): string {
  const name = params['name'] ?? params['uri']
  if (typeof name !== 'string') return method
  const shown = printable(JSON.stringify(clip(name, 512)))
  return method === 'tools/call' ? `tool ${shown}` : `${method} of ${shown}`
}
