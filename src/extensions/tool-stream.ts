import { weigh } from '../base/weight.ts'
import type { CallOptions } from '../client/options.ts'
import type { ContentBlock } from '../protocol/content.ts'
import { mcpError } from '../errors/error.ts'
import { ANSWER_TOO_LARGE } from '../errors/client.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { STREAMED_CALL } from '../protocol/meta.ts'
import type { CallToolResult } from '../protocol/spec/2026-07-28.ts'
import { requireDeclared } from './declared.ts'
import { defineExtension, type Extension, type Remote } from './define.ts'
import type { Host } from './install.ts'

/** Streamed tools as a client calls them: `toolStream.of(client)`. */
export interface ToolStreamApi {
  /**
   * Calls a tool; yields its output piece by piece, and returns the complete result, failed or not. Leaving the loop cancels
   * the call. It passes the middleware of `tools/call`, and its result is checked as that of `client.call`; pieces are not checked.
   *
   * @example
   * for await (const blocks of toolStream.of(client).stream('report', { year: 2026 })) show(blocks)
   */
  stream(
    name: string,
    input?: JsonObject,
    options?: CallOptions,
  ): AsyncGenerator<readonly ContentBlock[], CallToolResult, undefined>
}

const ID = 'dev.pierhead/tools'

/** The most bytes of memory that pieces may take before they are read. */
const MAX_WAITING = 67_108_864

/** The key in `_meta` of a progress notification that contains a piece of the content. */
export const CONTENT = 'dev.pierhead/content'

const BLOCKS = {
  type: 'array',
  items: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
}
const METHODS = {
  stream: {
    about:
      'Calls a tool as `tools/call` does, with the same params and result; partial output is sent in `_meta["dev.pierhead/content"]` of progress notifications, with the progress token or, without one, the id of the request.',
    result: { type: 'object', properties: { content: BLOCKS }, required: ['content'] },
  },
} as const

/** The output of a tool piece by piece: `dev.pierhead/tools/stream`. */
export const toolStream: Extension<ToolStreamApi> = /* @__PURE__ */ defineExtension({
  id: ID,
  about: 'The output of a tool, piece by piece.',
  methods: METHODS,
  serve: (_options: undefined, { service }: Host): void => {
    service.observers.targets.set(STREAMED_CALL, 'name')
    service.intercept(STREAMED_CALL, async (call, answer) => {
      requireDeclared(call.peer, ID, call.method)
      const { answerStream } = await import('./stream-call.ts')
      return answerStream(call, answer)
    })
  },
  client: (remote: Remote<typeof METHODS>): ToolStreamApi => ({
    stream: (name, input, options) =>
      pieces(remote as unknown as Streaming, { name, arguments: input ?? {} }, options),
  }),
})

interface Streaming {
  stream(params: JsonObject, options: CallOptions): Promise<CallToolResult>
}

async function* pieces(
  remote: Streaming,
  params: JsonObject,
  options: CallOptions = {},
): AsyncGenerator<readonly ContentBlock[], CallToolResult, undefined> {
  let waiting: (readonly ContentBlock[])[] = []
  let size = 0
  let wake = (): void => undefined
  const stop = new AbortController()
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
  const keep = (piece: readonly ContentBlock[]): void => {
    waiting.push(piece)
    size += weigh(piece, MAX_WAITING)
    if (size <= MAX_WAITING) return
    waiting = []
    stop.abort(mcpError(ANSWER_TOO_LARGE, { limit: MAX_WAITING, unit: 'bytes that were not read' }))
  }
  let ended = false
  const answered = remote
    .stream(params, {
      ...options,
      signal,
      onProgress(progress) {
        const content = (progress as { readonly _meta?: JsonObject })._meta?.[CONTENT]
        if (Array.isArray(content)) keep(content as readonly ContentBlock[])
        options.onProgress?.(progress)
        wake()
      },
    })
    .finally(() => {
      ended = true
      wake()
    })
  answered.catch(() => undefined)
  try {
    for (;;) {
      const taken = waiting
      waiting = []
      size = 0
      yield* taken
      if (waiting.length > 0) continue
      if (ended) return await answered
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stop.abort()
  }
}
