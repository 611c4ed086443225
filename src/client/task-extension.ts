import { clip } from '../base/clip.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { mcpError } from '../errors/error.ts'
import { isObject, type ErrorObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { NEWEST } from './forms.ts'
import { toRemoteError } from './first-exchange.ts'
import { Following, type Outcome } from './following.ts'
import { readResult } from './results.ts'
import { answersTo } from './rounds.ts'
import type { TaskReport } from './task-handle.ts'
import { listenForTask } from './task-listening.ts'
import { badTask, LATEST_MS } from './task-report.ts'
import { LATEST } from '../protocol/revisions.ts'

const GET = 'tasks/get'
/** The number of questions at once, and in the life of a task. */
const MAX_OPEN = 100
const MAX_ASKED = 1000
/** Of longer questions only the length is remembered. */
const MAX_REMEMBERED = 2048

/** Follows a task of the extension of 2026-07-28: `tasks/get` has everything, and `tasks/update` answers questions. */
export class ExtensionTask extends Following {
  /** The questions that were answered or are being answered, by key. */
  readonly #asked = new Map<string, string>()
  #failure: Error | undefined
  #listens = false

  /** Servers that report a task by itself need not say how it ended. */
  protected override hasOutcome({ status, result, error }: JsonObject): boolean {
    if (status === 'completed') return isObject(result)
    return status === 'failed' ? isObject(error) : status === 'cancelled'
  }

  protected begin(signal: AbortSignal): void {
    void listenForTask(this.conversation, this.id, signal, (listens) => {
      this.#listens = listens
      // The task may have changed before.
      this.wake()
    })
  }

  protected override pollMs(usual: number): number {
    return this.#listens ? LATEST_MS : usual
  }

  protected async step(
    task: JsonObject,
    { status }: TaskReport,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    if (status === 'completed') return { result: toResult(task) }
    if (status === 'failed') return { error: await toError(task) }
    if (status === 'cancelled') return this.cancelled()
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    if (status === 'input_required') this.#answer(task['inputRequests'], signal)
    return undefined
  }

  /** Answers the questions that are new. The same question under the same key is answered once. */
  #answer(questions: unknown, signal: AbortSignal): void {
    if (!isObject(questions) || Object.keys(questions).length > MAX_OPEN)
      throw badTask(GET, `inputRequests are not an object of at most ${MAX_OPEN} questions`)
    for (const [key, question] of Object.entries(questions)) {
      const text = JSON.stringify(question) ?? ''
      const remembered = text.length > MAX_REMEMBERED ? String(text.length) : text
      const known = this.#asked.get(key)
      if (known !== undefined && known !== remembered)
        throw badTask(GET, `it asks another question under the key "${clip(key, 32)}"`)
      if (known !== undefined) continue
      if (this.#asked.size === MAX_ASKED || key.length > MAX_REMEMBERED)
        throw badTask(GET, `it asks more than ${MAX_ASKED} questions, or one with a long key`)
      this.#asked.set(key, remembered)
      void this.#reply(key, question, signal)
    }
  }

  async #reply(key: string, question: unknown, signal: AbortSignal): Promise<void> {
    const { conversation } = this
    try {
      const asked = Object.fromEntries([[key, question]])
      const inputResponses = await answersTo(asked, (...parts) => conversation.answer(...parts), signal)
      signal.throwIfAborted()
      await this.ask('tasks/update', { inputResponses }, signal)
    } catch (error) {
      // Whoever waits next answers it. A task that has ended in the meantime needs no answer.
      this.#asked.delete(key)
      if (!signal.aborted) this.#failure = error as Error
    }
    this.wake()
  }
}

function toResult({ result }: JsonObject): JsonObject {
  if (!isObject(result)) throw badTask(GET, 'the result of the task is not an object')
  const decoded = readResult('tools/call', result, { revision: LATEST, forms: NEWEST })
  if (decoded['resultType'] === undefined) return decoded
  throw badTask(GET, 'the result of the task is not complete')
}

async function toError({ error }: JsonObject): Promise<Error> {
  const { code, message } = isObject(error) ? error : {}
  if (typeof code === 'number' && typeof message === 'string')
    return toRemoteError(error as unknown as ErrorObject, NEWEST)
  return mcpError(BAD_ANSWER, { method: GET, issue: 'the task failed without an error' })
}
