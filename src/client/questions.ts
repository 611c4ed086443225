import { textBytes } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import { isObject, type JsonObject, type RequestId } from '../protocol/jsonrpc.ts'
import type { ClientTransport } from '../rpc/client-transport.ts'
import { encodeNotification } from './encode-call.ts'
import type { Emitter } from './events.ts'
import type { Forms } from './forms.ts'
import type { Agreement } from './negotiate.ts'
import { encodeAnswer, encodeFailure, refuseId } from './question-reply.ts'
import type { QuestionRoom } from './question-room.ts'
import type { QuestionSender, QuestionTasks } from './question-tasks.ts'

/** Answers a question of the server. Throws the error to send back. */
export type Answer = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** The number of replies on their way at once: over HTTP, each takes a connection. */
const MAX_SENDING = 16

export interface QuestionOptions {
  /** The longest id of a question. */
  readonly idLength: number
  /** Gets a warning if a question cannot be answered. */
  readonly events?: Pick<Emitter, 'emit'> | undefined
}

/** The open questions of a server. */
export class Questions {
  readonly #open = new Map<unknown, AbortController>()
  readonly #answer: Answer
  readonly #idLength: number
  readonly #events: QuestionOptions['events']
  readonly #room: QuestionRoom
  #tasks: QuestionTasks | undefined
  #sending = 0
  readonly #unsent: (() => void)[] = []

  constructor(answer: Answer, { idLength, events }: QuestionOptions, room: QuestionRoom) {
    this.#answer = answer
    this.#idLength = idLength
    this.#events = events
    this.#room = room
  }

  /** Returns the reply to a question; undefined if it was cancelled. */
  async reply(
    question: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
    { revision, forms }: Pick<Agreement, 'revision' | 'forms'>,
    transport?: Pick<ClientTransport, 'send'>,
  ): Promise<string | undefined> {
    const { id, method, params } = question
    if (String(id).length > this.#idLength) return refuseId(this.#idLength)
    const controller = new AbortController()
    // A server that uses an id again has given up the question before.
    this.cancel(id)
    this.#open.set(id, controller)
    try {
      const { signal } = controller
      const result = isAboutTask(method, params, revision)
        ? await (
            await this.#asTasks()
          ).reply(method, params, signal, {
            forms,
            tell: transport && this.#teller(forms, transport),
          })
        : await this.#answer(method, params, signal)
      return controller.signal.aborted ? undefined : encodeAnswer(id, forms.result(method, result))
    } catch (error) {
      if (controller.signal.aborted) return undefined
      return encodeFailure(id, error, (text) => this.#events?.emit('warning', text))
    } finally {
      if (this.#open.get(id) === controller) this.#open.delete(id)
    }
  }

  /** Sends a reply, when fewer are on their way. It is dropped if too much is waiting. */
  async send(text: string, transport: Pick<ClientTransport, 'send'>): Promise<void> {
    if (this.#sending === MAX_SENDING) {
      const bytes = textBytes(text)
      if (!this.#room.take(bytes)) return
      await new Promise<void>((resolve) => this.#unsent.push(resolve))
      this.#room.take(-bytes)
    } else this.#sending++
    await transport.send(text).finally(() => {
      const next = this.#unsent.shift()
      if (next === undefined) this.#sending--
      else next()
    })
  }

  /** Sends notifications about tasks. Servers need not know them, so none is sent again. */
  #teller(forms: Forms, transport: Pick<ClientTransport, 'send'>): NonNullable<QuestionSender['tell']> {
    return (method: string, params: JsonObject): void => {
      this.send(encodeNotification(method, params, forms), transport).catch(() => undefined)
    }
  }

  async #asTasks(): Promise<QuestionTasks> {
    const { QuestionTasks } = await import('./question-tasks.ts')
    return (this.#tasks ??= new QuestionTasks(this.#answer, this.#room))
  }

  /** Cancels a question at the server's request. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort(mcpError(CANCELLED, { reason: ' by the server' }))
  }

  /** Cancels all questions, because the connection has closed. */
  cancelAll(): void {
    for (const controller of this.#open.values())
      controller.abort(mcpError(CONNECTION_CLOSED, { method: 'a question' }))
    this.#open.clear()
    this.#tasks?.clear()
  }
}

/** The questions that may be tasks. */
const AS_TASKS: ReadonlySet<string> = new Set(['sampling/createMessage', 'elicitation/create'])

/** Whether a question asks for a task, or is about one. Other revisions have no tasks, and ignore that. */
function isAboutTask(method: string, { task }: JsonObject, revision: string): boolean {
  if (revision !== '2025-11-25') return false
  return method.startsWith('tasks/') || (isObject(task) && AS_TASKS.has(method))
}
