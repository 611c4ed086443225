import { copyOf } from '../base/copy-of.ts'
import { pause } from '../base/backoff.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Conversation } from './conversation.ts'
import { Following, type Outcome } from './following.ts'
import { toKept } from './kept-progress.ts'
import { checkResult } from './results.ts'
import type { TaskProgress, TaskReport } from './task-handle.ts'
import { badTask } from './task-report.ts'

const RESULT = 'tasks/result'
/** How long the result of a task that has ended may take, at first, before the request counts as lost. */
const LOST_MS = 2000

/** Follows a task of 2025-11-25: `tasks/result` is answered when it ends, and brings its questions until then. */
export class CoreTask extends Following {
  readonly #token: number | undefined
  #asking: AbortController | undefined
  #lostMs = LOST_MS
  #error: Error | undefined

  /** `token` is that of its progress, if this client began it. */
  constructor(
    conversation: Conversation,
    id: string,
    created: JsonObject,
    options: RequestOptions,
    token?: number,
  ) {
    super(conversation, id, created, options)
    this.#token = token
  }

  protected begin(signal: AbortSignal): void {
    const { ids } = this.conversation.connection
    const token = this.#token
    if (token !== undefined) {
      ids.begin(token, (params) => this.tell(toKept(params) as TaskProgress))
      signal.addEventListener('abort', () => ids.end(token), { once: true })
    }
    this.#ask(signal)
  }

  protected async step(
    _: JsonObject,
    { status }: TaskReport,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    if (status === 'cancelled') return this.cancelled()
    const error = this.#error
    this.#error = undefined
    if (error !== undefined && status === 'failed') return { error }
    if (error !== undefined && status === 'completed') throw error
    if (error !== undefined) this.#ask(signal)
    else if (isFinal(status)) await this.#askAgain(signal)
    return this.early
  }

  /** Waits for the result of a task that has ended. If it does not arrive, the stream was lost. */
  async #askAgain(signal: AbortSignal): Promise<void> {
    const asking = this.#asking
    if (asking !== undefined) await pause(this.#lostMs, signal, asking.signal)
    if (this.early !== undefined || this.#error !== undefined || signal.aborted) return
    asking?.abort()
    this.#lostMs *= 2
    this.#ask(signal)
  }

  #ask(signal: AbortSignal): void {
    const asking = (this.#asking = new AbortController())
    const end = (): void => asking.abort()
    signal.addEventListener('abort', end)
    void this.ask(RESULT, {}, asking.signal, Infinity)
      .then((result) => (this.early = { result: toResult(result, this.id) }))
      .catch((error: Error) => {
        if (!asking.signal.aborted) this.#error = error
      })
      .finally(() => {
        signal.removeEventListener('abort', end)
        end()
        if (this.#asking === asking) this.wake()
      })
  }
}

/** The result as a direct call would have it. */
function toResult(sent: JsonObject, id: string): JsonObject {
  const { _meta } = sent
  const result = copyOf(sent, '_meta')
  const related = isObject(_meta) ? _meta[META.relatedTask] : undefined
  const meta = isObject(_meta) ? copyOf(_meta, META.relatedTask) : {}
  if (isObject(related) && related['taskId'] !== id) throw badTask(RESULT, 'it belongs to another task')
  if (Object.keys(meta).length > 0) result['_meta'] = meta
  return checkResult('tools/call', result)
}
