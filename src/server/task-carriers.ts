import { inNextTurn } from '../base/turn.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TOO_MANY_QUESTIONS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import { type Call, inLifetime } from '../rpc/call.ts'
import type { Session } from '../rpc/session.ts'
import type { TaskHead, TaskQuestion } from '../tasks/record.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { related } from './task-messages.ts'

/** The requests that wait for the results of tasks, by task. */
const waiting = new WeakMap<Tasks, TurnoverMap<string, Carriers>>()

/** Waits for the end of a task, and asks its questions on the stream of a request meanwhile. */
export function carry(tasks: Tasks, { id, owner }: TaskHead, call: Call): Promise<void> {
  let byId = waiting.get(tasks)
  if (byId === undefined) waiting.set(tasks, (byId = new TurnoverMap()))
  const all = byId
  let carriers = all.get(id)
  if (carriers === undefined) {
    carriers = new Carriers(tasks, id, owner, () => {
      if (all.get(id) === carriers) all.delete(id)
    })
    all.set(id, carriers)
  }
  return carriers.add(call)
}

/** A request that waits. */
interface Carrier {
  readonly call: Call
  /** The questions that it has asked; undefined if there are none. */
  asked: Set<string> | undefined
  /** Whether it no longer waits. */
  isOver: boolean
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  /** Stops what the task sends to it. */
  readonly unlink: (() => void) | undefined
}

/** The requests of each session that carry one question. The one that asked last is the last. */
type Asking = Map<Session | undefined, Carrier>

/**
 * The requests that wait for one task. However many there are, they look at the task once for each of its changes, and one of them
 * asks each question; another one only if that one's client is away, or is not the only client.
 */
class Carriers {
  readonly #tasks: Tasks
  readonly #id: string
  readonly #owner: string
  readonly #onEmpty: () => void
  readonly #unfollow: () => void
  /** From the one that has waited for the longest time. */
  #all: Carrier[] = []
  /** Those that came since the last look. */
  #new: Carrier[] = []
  readonly #asking = new Map<string, Asking>()
  #isLooking = false
  #isAgain = false
  #isSoon = false

  constructor(tasks: Tasks, id: string, owner: string, onEmpty: () => void) {
    this.#tasks = tasks
    this.#id = id
    this.#owner = owner
    this.#onEmpty = onEmpty
    this.#unfollow = tasks.followers.add(id, () => void this.#look())
  }

  /** Resolves when the task has ended. */
  add(call: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      const unlink = this.#link(call)
      const carrier: Carrier = { call, asked: undefined, isOver: false, resolve, reject, unlink }
      this.#all.push(carrier)
      if (call.aborted) return this.#abort(carrier)
      if (!this.#hasRoom(carrier)) return this.#remove(carrier, mcpError(TOO_MANY_QUESTIONS, {}, SOON))
      this.#new.push(carrier)
      call.onAbort = () => this.#abort(carrier)
      call.onDisconnect = () => {
        if (this.#carries(carrier)) this.#lookSoon()
      }
      // A response that nobody can get needs no place.
      call.channel.onLeft?.(() => {
        if (!carrier.isOver) this.#remove(carrier, mcpError(CONNECTION_CLOSED, { method: call.method }))
      })
      void this.#look()
    })
  }

  #link(call: Call): (() => void) | undefined {
    const { runs, links } = this.#tasks
    const link = runs.get(this.#id)?.link ?? links.get(this.#id)
    return link?.add((method, params) =>
      call.emit(method, { ...params, _meta: related(this.#id, params['_meta']) }),
    )
  }

  /** Whether one more may wait; the oldest whose client is away makes room for it. One task has as many as one caller requests. */
  #hasRoom(carrier: Carrier): boolean {
    if (this.#all.length <= this.#tasks.host.limits.inFlight) return true
    const away = this.#all.find((one) => one !== carrier && isAway(one))
    if (away !== undefined) this.#remove(away, mcpError(TOO_MANY_QUESTIONS, {}, SOON))
    return away !== undefined
  }

  #abort(carrier: Carrier): void {
    try {
      carrier.call.throwIfAborted()
    } catch (reason) {
      this.#remove(carrier, reason)
    }
  }

  #remove(carrier: Carrier, error: unknown): void {
    const at = this.#all.indexOf(carrier)
    if (at < 0) return
    this.#all.splice(at, 1)
    const isCarrying = this.#carries(carrier)
    end(carrier)
    carrier.reject(error as Error)
    if (this.#all.length === 0) this.#stop()
    // Another request may ask instead.
    else if (isCarrying) this.#lookSoon()
  }

  /** Ends all waits, with an error if there is one. */
  #endAll(settle: (carrier: Carrier) => void): void {
    const all = this.#all
    this.#all = []
    this.#stop()
    for (const carrier of all) {
      end(carrier)
      settle(carrier)
    }
  }

  #stop(): void {
    this.#unfollow()
    this.#onEmpty()
  }

  /** Looks once after all that happens in this turn: the clients of many may leave at once. */
  #lookSoon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    inNextTurn(() => {
      this.#isSoon = false
      void this.#look()
    })
  }

  async #look(): Promise<void> {
    this.#isAgain = true
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#isAgain && this.#all.length > 0) {
        this.#isAgain = false
        const fresh = this.#new
        this.#new = []
        const head = await this.#tasks.find(this.#id, this.#owner)
        if (head === undefined || isFinal(head.status)) return this.#endAll(({ resolve }) => resolve())
        this.#tasks.checkOpen()
        if (head.status === 'input_required') await this.#ask(head, fresh)
      }
    } catch (error) {
      this.#endAll(({ reject }) => reject(error as Error))
    } finally {
      this.#isLooking = false
    }
  }

  /** Asks the questions that no request carries, and those that the clients of new requests may not know. */
  async #ask(head: TaskHead, fresh: readonly Carrier[]): Promise<void> {
    for (const [name, question] of (await this.#tasks.questions.of(head)) ?? []) {
      for (const carrier of fresh)
        if (mayAsk(carrier, name) && !this.#isKnown(name, carrier)) this.#send(name, question, carrier)
      if ([...(this.#asking.get(name)?.values() ?? [])].some((one) => !isAway(one))) continue
      const next = this.#all.find((one) => mayAsk(one, name))
      if (next !== undefined) this.#send(name, question, next)
    }
  }

  /** Whether the client of a request has got a question by another one. */
  #isKnown(name: string, { call }: Carrier): boolean {
    const same = this.#asking.get(name)?.get(call.peer.session)
    return same !== undefined && !isAway(same)
  }

  #send(name: string, question: TaskQuestion, carrier: Carrier): void {
    const { call } = carrier
    ;(carrier.asked ??= new Set()).add(name)
    let asking = this.#asking.get(name)
    if (asking === undefined) this.#asking.set(name, (asking = new Map()))
    asking.delete(call.peer.session)
    asking.set(call.peer.session, carrier)
    inLifetime(call.source.lifetime, () => void this.#sendNow(name, question, carrier))
  }

  async #sendNow(name: string, { method, params }: TaskQuestion, carrier: Carrier): Promise<void> {
    const { call } = carrier
    const id = this.#id
    try {
      const asked = call.channel.ask?.(method, { ...params, _meta: related(id, params['_meta']) }, call)
      const answer = await asked?.catch((error: unknown) => this.#refuse(name, carrier, error as McpError))
      if (answer !== undefined) await this.#tasks.answer(id, this.#owner, [[name, answer]])
    } catch (error) {
      // The answer could not be stored, so the question is still open.
      carrier.asked?.delete(name)
      this.#tasks.reportFailure(error)
    } finally {
      const asking = this.#asking.get(name)
      if (asking?.get(call.peer.session) === carrier) asking.delete(call.peer.session)
      if (asking?.size === 0) this.#asking.delete(name)
      // Another request may ask instead.
      this.#lookSoon()
    }
  }

  /** Gives up a question that a client refused, unless another request has asked it since. */
  async #refuse(name: string, carrier: Carrier, error: McpError): Promise<undefined> {
    const { call } = carrier
    const last = [...(this.#asking.get(name)?.values() ?? [])].at(-1)
    if (call.aborted || call.ended || last !== carrier) return
    await this.#tasks.refuse(this.#id, this.#owner, name, error)
  }

  /** Whether a request carries a question at this moment. */
  #carries({ call, asked }: Carrier): boolean {
    if (asked === undefined) return false
    for (const asking of this.#asking.values()) if (asking.get(call.peer.session)?.call === call) return true
    return false
  }
}

/** Whether the client of a request has disconnected, and has not come back. */
function isAway({ call, isOver }: Carrier): boolean {
  return isOver || call.channel.isConnected === false
}

/** Whether a request can ask a question, and has not. */
function mayAsk(carrier: Carrier, name: string): boolean {
  return carrier.call.channel.ask !== undefined && carrier.asked?.has(name) !== true && !isAway(carrier)
}

function end(carrier: Carrier): void {
  const { call, unlink } = carrier
  carrier.isOver = true
  call.onAbort = call.onDisconnect = undefined
  unlink?.()
}
