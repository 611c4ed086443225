import { toMs } from '../base/duration.ts'
import { checkOptions } from '../base/options.ts'
import { McpError } from '../errors/error.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { Clock } from '../rpc/clock.ts'
import type { Conversation } from './conversation.ts'
import type { Following } from './following.ts'
import {
  WAIT_OPTIONS,
  type TaskHandle,
  type TaskProgress,
  type TaskReport,
  type WaitOptions,
} from './task-handle.ts'
import { toValue } from './values.ts'

const MAX_UNREAD = 100

/** The parts of a task that its handle needs. */
type Followed = Pick<Following, 'wait' | 'report' | 'cancel' | 'onProgress'> & {
  readonly id: string | undefined
}

/** The handle of a task. */
export class RunningTask implements TaskHandle {
  readonly #conversation: Conversation
  readonly #following: Followed
  readonly #name: string | undefined

  /** `name` is that of the tool, if it is known. */
  constructor(conversation: Conversation, following: Followed, name?: string) {
    this.#conversation = conversation
    this.#following = following
    this.#name = name
  }

  get id(): string | undefined {
    return this.#following.id
  }

  status(options: WaitOptions = {}): Promise<TaskReport> {
    return this.#within('tasks/get', options, (signal) => this.#following.report(signal))
  }

  async result(options: WaitOptions = {}): Promise<unknown> {
    const clock = new Clock()
    clock.explain = notEnded
    const outcome = await this.#within('the task', options, (signal) => this.#following.wait(signal), clock)
    if ('error' in outcome) throw markReceived(outcome.error)
    return valueOf(this.#conversation, this.#name, outcome.result)
  }

  cancel(options: WaitOptions = {}): Promise<void> {
    return this.#within('tasks/cancel', options, (signal) => this.#following.cancel(signal))
  }

  async *progress(): AsyncGenerator<TaskProgress, void, undefined> {
    const unread: TaskProgress[] = []
    const stop = new AbortController()
    let isOver = false
    let failure: Error | undefined
    let wake = (): void => undefined
    const off = this.#following.onProgress((progress) => {
      if (unread.length === MAX_UNREAD) unread.shift()
      unread.push(progress)
      wake()
    })
    void this.#following
      .wait(stop.signal)
      .catch((error: Error) => (failure = error))
      .finally(() => {
        isOver = true
        wake()
      })
    try {
      for (;;) {
        for (let next = unread.shift(); next !== undefined; next = unread.shift()) yield next
        if (isOver) break
        await new Promise<void>((resolve) => (wake = resolve))
      }
      if (failure !== undefined) throw failure
    } finally {
      off()
      stop.abort()
    }
  }

  /** Does something until it takes too long, the caller stops waiting or the client closes. */
  async #within<Value>(
    method: string,
    options: WaitOptions,
    run: (signal: AbortSignal) => Promise<Value>,
    clock = new Clock(),
  ): Promise<Value> {
    checkOptions('task', options, WAIT_OPTIONS)
    const { total, signal } = options
    const totalMs = total === undefined ? Infinity : toMs(total, 'total')
    const deadline = this.#conversation.connection.deadline(method, {
      idleMs: Infinity,
      totalMs,
      signal,
      clock,
    })
    return run(deadline.signal).finally(() => deadline.end())
  }
}

/** The error of somebody who waited for the end of a task, which needs no answer to go on. */
function notEnded({ message }: McpError): McpError {
  const hint = 'The task goes on: wait again, or for longer.'
  return new McpError('timeout', message.replace('was not answered', 'did not end'), { hint })
}

/** What there is to follow of a call that the server answered directly. */
export function finished(result: JsonObject): Followed {
  const unknown = { message: undefined, createdAt: undefined, updatedAt: undefined, ttlMs: undefined }
  return {
    id: undefined,
    wait: async () => ({ result }),
    report: async () => ({ status: 'completed', ...unknown }),
    cancel: async () => undefined,
    onProgress: () => () => undefined,
  }
}

/** The value of a call, as `client.call` returns it. */
async function valueOf(
  conversation: Conversation,
  name: string | undefined,
  result: JsonObject,
): Promise<unknown> {
  if (name === undefined) return toValue(result, undefined, conversation.limits)
  await conversation.checkOutput(name, result)
  return toValue(result, conversation.known.get(name)?.outputSchema, conversation.limits)
}
