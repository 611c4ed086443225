import { copyOf } from '../base/copy-of.ts'
import type { ContentBlock } from '../protocol/content.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { Call, type Channel } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { progressToken } from '../server/progress.ts'
import { toContent } from '../server/reply.ts'
import { loweringFor, lowerResult } from '../wire/lower.ts'
import { CONTENT } from './tool-stream.ts'

/** Answers a streamed call as `tools/call`, so that middleware applies, and sends its content as it becomes available. */
export async function answerStream(
  call: Call,
  answer: (call: Call) => Result | Promise<Result>,
): Promise<Result> {
  const { id, params, peer, source, reference } = call
  const token = progressToken(call) ?? id
  if (typeof token !== 'string' && typeof token !== 'number')
    throw mcpError(BAD_PARAMS, {
      method: call.method,
      reason: 'it needs a progress token, or a smaller id',
    })
  const own = (params['_meta'] ?? {}) as JsonObject
  const meta = Object.assign(copyOf(own), { [META.progressToken]: token })
  const sent = Object.assign(copyOf(params), { _meta: meta })
  const channel = toChannel(call, token)
  const inner = new Call(id, 'tools/call', sent, { peer, channel, source, reference })
  const stop = (): void =>
    call.cancelled ? inner.cancel(call.signal.reason) : inner.abort(call.signal.reason)
  call.signal.addEventListener('abort', stop)
  if (call.aborted) stop()
  try {
    return formed(call, await answer(inner))
  } finally {
    inner.end()
    call.signal.removeEventListener('abort', stop)
  }
}

function toChannel(call: Call, token: string | number): Channel {
  const { channel } = call
  let last = Number.NEGATIVE_INFINITY
  return {
    emit: (method, params) => call.emit(method, params),
    ask: channel.ask === undefined ? undefined : async (method, params) => channel.ask!(method, params, call),
    closeStream: (retryMs) => channel.closeStream?.(retryMs),
    report(progress, total, message, content) {
      const blocks = content === undefined ? [] : toContent(content)
      if (!(progress > last) && blocks.length === 0) return
      last = progress > last ? progress : above(last)
      const piece = blocks.length === 0 ? undefined : { [CONTENT]: formedBlocks(call, blocks) }
      call.emit('notifications/progress', {
        progressToken: token,
        progress: last,
        total,
        message,
        _meta: piece,
      })
    },
  }
}

/** Sends content even if the handler's progress decreases; the reported progress may only increase. */
function above(last: number): number {
  return Number.isFinite(last) ? last + Math.max(1, Math.abs(last)) * Number.EPSILON : 0
}

/** The result in the form that `tools/call` would return. */
function formed({ peer }: Call, result: Result): Result {
  const { revision, adapter } = peer.dialect
  const lowered = lowerResult('tools/call', result, loweringFor(revision))
  return adapter === undefined ? lowered : adapter.encodeResult('tools/call', lowered)
}

function formedBlocks(call: Call, content: readonly ContentBlock[]): unknown {
  return formed(call, { content })['content']
}
