import { Deferred } from '../base/deferred.ts'
import { plainText } from '../base/plain-json.ts'
import { orElse, soon } from '../base/soon.ts'
import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Call, CallTask, Channel, Peer } from '../rpc/call.ts'
import { outcomeText, readError } from './outcome.ts'
import { heldBytesOf, NOBODY, type TaskHolder } from './bytes.ts'
import { turnOf, type Place } from './gate.ts'
import type { TaskLink } from './link.ts'
import type { TaskPlan } from './plan.ts'
import { headOf, type TaskHead, type TaskQuestion, type TaskRecord, type TaskRequest } from './record.ts'
import { checkAnswers, hasNoRoom, keepEarly } from './answer-room.ts'
import { ownKey, AttemptState } from './attempt-state.ts'
import { isTooLarge } from './room.ts'
import type { TaskEvent } from './states.ts'
import { statusMessageOf } from './status-message.ts'
import { pause, untilWritten } from './store-away.ts'
import type { Soon, TaskChange } from './store.ts'
import type { TaskRunner } from './runner.ts'

/** Milliseconds between two writes of progress. */
const PROGRESS_MS = 1000
const nothing = (): void => undefined

/**
 * One attempt of a task in this process: what its handler reaches while it runs. It is the channel of its call once the request
 * is answered. A call that may become a task has one from the start.
 */
export class Run implements Channel, CallTask {
  readonly tasks: TaskRunner
  readonly tool: string
  readonly plan: TaskPlan | undefined
  call!: Call
  /** Undefined until the call is a task. */
  head: TaskHead | undefined = undefined
  /** Whether the call is being stored as a task. */
  storing: Promise<boolean> | undefined = undefined
  /** The holder of the memory that it takes. */
  holder: TaskHolder = NOBODY
  /** The length of its request, which counts as memory. */
  requestBytes = 0
  /** Its request, if that is long, so that the record can lose it. */
  longRequest: TaskRequest | undefined = undefined
  /** The memory of values that came with its request, or were made of them. */
  givenBytes = 0
  /** Whether its handler runs, which may be longer than the task. */
  isHandling = false
  /** The connection with the client that started the task; absent if there is none. */
  link: TaskLink | undefined = undefined
  /** Whether its handler runs, or has run. */
  hasBegun = false
  /** Whether its handler, which has not begun, never will. */
  isWithheld = false
  /** Leaves the queue for a place, and stops waiting for it. */
  giveUp: (() => void) | undefined = undefined
  /** Leaves that queue only. */
  leaveGate: (() => void) | undefined = undefined
  /** Its place, if only so many handlers of the tool run at once. */
  place: Place | undefined = undefined
  #shared: AttemptState | undefined
  #open: Map<string, Deferred<JsonObject>> | undefined
  #values: Map<string, Promise<unknown>> | undefined
  #message: string | undefined
  #wroteAt = -Infinity
  #timer: unknown
  #writing: Promise<unknown> | undefined
  #isOver = false
  #changes = 0
  #isNoticed = false

  constructor(tasks: TaskRunner, tool: string, plan: TaskPlan | undefined) {
    this.tasks = tasks
    this.tool = tool
    this.plan = plan
  }

  get attempt(): number {
    return this.head?.attempt ?? 1
  }

  /** Whether this attempt has no influence any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether a change of its record is under way. */
  get isChanging(): boolean {
    return this.#changes > 0
  }

  /** Changes its record by `act`, which may fail. */
  whileChanging<Value>(act: () => Soon<Value>): Soon<Value> {
    this.#changes++
    const changed = orElse(act, (error) => {
      this.#changes--
      throw error
    })
    const done = soon(changed, (value) => {
      this.#changes--
      return value
    })
    // After those who wait for the change know its version.
    if (done instanceof Promise) void done.then(nothing, nothing).then(() => this.#lookAgain())
    return done
  }

  /** Remembers a notice that arrives while a change is under way: it may be of another one. */
  noticeLater(): void {
    this.#isNoticed = true
  }

  #lookAgain(): void {
    if (!this.#isNoticed || this.isChanging || this.#isOver) return
    this.#isNoticed = false
    this.tasks.compare(this)
  }

  isTask(): boolean | Promise<boolean> {
    return this.head !== undefined || (this.storing ?? false)
  }

  /** Takes over what earlier attempts left. */
  load(record: TaskRecord, shared: AttemptState): void {
    this.head = headOf(record)
    if (record.state !== '') this.#shared = shared
  }

  get shared(): AttemptState {
    return (this.#shared ??= new AttemptState())
  }

  /** The memory that it takes while its handler runs, besides the texts of its task. */
  get heldBytes(): number {
    return heldBytesOf(this.givenBytes, this.#shared)
  }

  /** The state for the record. */
  get stateText(): string {
    return this.#shared === undefined ? '' : this.#shared.text
  }

  /** The memory of that text. */
  get stateBytes(): number {
    return this.#shared === undefined ? 0 : this.#shared.textBytes
  }

  emit(method: string, params: JsonObject, _peer: Peer): void {
    if (this.head !== undefined) this.link?.send(method, params, this.head.id)
  }

  progress(message: string | undefined): void {
    if (typeof message !== 'string' || this.#isOver) return
    this.#message = statusMessageOf(message)
    if (this.head === undefined || this.#timer !== undefined) return
    const { clock } = this.tasks
    const wait = this.#wroteAt + PROGRESS_MS - clock.elapsed()
    if (wait <= 0) this.#writeProgress()
    else this.#timer = clock.after(wait, () => this.#writeProgress())
  }

  #writeProgress(): void {
    this.#timer = undefined
    if (this.#isOver) return
    this.#wroteAt = this.tasks.clock.elapsed()
    this.tasks.unawaited(() => this.write('progress', () => ({})))
  }

  /** The message that is not written yet. */
  takeMessage(): Pick<TaskChange, 'statusMessage'> | undefined {
    const statusMessage = this.#message
    this.#message = undefined
    return statusMessage === undefined ? undefined : { statusMessage }
  }

  /** Keeps a message whose change failed for the next one, unless there is a newer message. */
  keepMessage(message: Pick<TaskChange, 'statusMessage'> | undefined): void {
    this.#message ??= message?.statusMessage
  }

  /** Changes the record, after the changes before. False if this attempt is over, or the event is not legal. */
  write(event: TaskEvent, change: () => TaskChange, isForced?: boolean): Soon<boolean> {
    return this.inTurn(() => this.tasks.change(this, event, change, isForced))
  }

  /** Acts after the changes before. */
  inTurn<Value>(act: () => Soon<Value>): Soon<Value> {
    const done = this.#writing === undefined ? act() : this.#writing.then(act, act)
    if (!(done instanceof Promise)) return done
    const last: Promise<unknown> = done.then(nothing, nothing)
    this.#writing = last
    void last.then(() => {
      if (this.#writing === last) this.#writing = undefined
    })
    return done
  }

  async question(key: string, question: TaskQuestion): Promise<JsonObject> {
    const refusal = this.#shared?.takeRefusal(key, question)
    if (refusal !== undefined) throw readError(refusal)
    const wait = this.tasks.pace.ask(turnOf(this), this.shared.answerBytes)
    if (wait > 0) await this.aside(pause(this, wait))
    const name = this.shared.open(key, question)
    const answer = new Deferred<JsonObject>()
    ;(this.#open ??= new Map()).set(name, answer)
    // A handler whose task has ended may never look at it.
    answer.promise.catch(() => undefined)
    try {
      await untilWritten(this, () => this.#keep('ask'))
    } catch (error) {
      this.#open.delete(name)
      this.shared.close(name)
      throw error
    }
    if (this.#isOver) throw this.call.signal.reason
    return this.aside(answer.promise)
  }

  /** Waits for an answer while others may have the place of the handler. */
  aside<Value>(wait: Promise<Value>): Promise<Value> {
    if (this.place === undefined) return wait
    const answered = this.place.without(wait)
    this.tasks.upkeep.freed(this.tool)
    return answered
  }

  answerTo(key: string, question: TaskQuestion, isSame: boolean): JsonObject | undefined {
    return this.#shared?.answerTo(key, question, isSame)
  }

  keepAnswer(key: string, question: TaskQuestion, answer: JsonObject | undefined): void {
    keepEarly(this.shared, [key, question, answer], this.tasks.host.limits)
    if (this.head === undefined) return
    this.tasks.unawaited(() =>
      orElse(
        () => this.#keep('progress'),
        (error) => {
          if (!isTooLarge(error)) throw error
          // A further attempt asks again.
          this.shared.keep(key, question, undefined)
        },
      ),
    )
  }

  /** Writes what further attempts need. Fails if there is no room. */
  #keep(event: TaskEvent): Soon<boolean> {
    this.tasks.hold(this)
    return this.write(event, () => ({ state: this.stateText }))
  }

  /** Takes answers of the client; unknown keys are ignored. Resolves once they are stored. False if this attempt is over. */
  answer(responses: readonly (readonly [string, JsonObject])[]): Soon<boolean> {
    return this.inTurn(() => {
      if (this.#isOver) return false
      const { questions } = this.shared
      const taken = this.shared.take(responses)
      if (taken.length === 0) return true
      const store = (): Soon<boolean> => {
        checkAnswers(this.shared, taken, this.tasks.host.limits)
        this.tasks.hold(this)
        const event = this.shared.questions.length === 0 ? 'answer' : 'ask'
        return this.tasks.change(this, event, () => ({ state: this.stateText }))
      }
      const stored = orElse(store, (error) => {
        this.shared.reopen(questions.filter(([name]) => taken.includes(name)))
        if (hasNoRoom(error)) for (const name of taken) this.tasks.unawaited(() => this.refuse(name, error))
        throw error
      })
      return soon(stored, (isStored) => {
        this.#deliver(taken)
        return isStored
      })
    })
  }

  /** Gives up a question, because it gets no answer; unknown ones are ignored. False if this attempt is over. */
  refuse(name: string, error: McpError): Soon<boolean> {
    if (this.#isOver) return false
    const waiting = this.#open?.get(name)
    this.#open?.delete(name)
    if (waiting !== undefined) {
      this.shared.close(name)
      waiting.reject(error)
    } else if (!this.shared.refuse(name, outcomeText({ error }))) return true
    const event = this.shared.questions.length === 0 ? 'answer' : 'ask'
    return this.write(event, () => ({ state: this.stateText }), true)
  }

  #deliver(names: readonly string[]): void {
    const { answers } = this.shared
    for (const name of names) {
      const waiting = this.#open?.get(name)
      this.#open?.delete(name)
      const found = answers.find(([key]) => key === ownKey(name))
      if (found !== undefined) waiting?.resolve(found[2])
    }
  }

  once(key: string, make: () => unknown): Promise<unknown> {
    const values = (this.#values ??= new Map())
    const kept = values.get(key)
    if (kept !== undefined) return kept
    const value = this.#once(key, make)
    values.set(key, value)
    value.catch(() => values.delete(key))
    return value
  }

  async #once(key: string, make: () => unknown): Promise<unknown> {
    const before = this.shared.once.find(([other]) => other === key)
    if (before !== undefined) return before[1]
    const value = await make()
    // A copy, since the handler may change its own.
    const text = value === undefined ? undefined : plainText('ctx.once', key, value)
    this.shared.keepOnce(key, text === undefined ? undefined : JSON.parse(text), text)
    if (this.head === undefined) return value
    try {
      await untilWritten(this, () => this.#keep('progress'))
    } catch (error) {
      // The next change must not carry what has no room.
      if (isTooLarge(error)) this.shared.dropOnce(key)
      throw error
    }
    return value
  }

  /** Keeps a value for further attempts. */
  keepOnce(key: string, value: unknown): void {
    this.shared.keepOnce(key, value)
  }

  /** Whether another node may have put something for this attempt into the state of its task. */
  get mayHaveNews(): boolean {
    return !this.hasBegun || (this.#open !== undefined && this.#open.size > 0)
  }

  /** Whether a head shows that this attempt still has its task. */
  has(head: TaskHead | undefined): head is TaskHead {
    return head !== undefined && !isFinal(head.status) && head.node === this.tasks.node
  }

  /** Compares with the record after another node changed it; `state` is needed if there may be news. False if this attempt has lost its task. */
  refresh(head: TaskHead | undefined, state?: string): boolean {
    if (this.#isOver) return false
    if (!this.has(head)) {
      this.tasks.lose(this, head)
      return false
    }
    // Changes of its own may have come after the look.
    if (head.version < (this.head?.version ?? 0)) return true
    this.head = headOf(head)
    if (state === undefined) return true
    if (!this.hasBegun) this.#loadAgain(state)
    if (this.#open === undefined || this.#open.size === 0) return true
    const theirs = AttemptState.of(state)
    const closed = [...this.#open.keys()].filter((name) => theirs.questions.every(([key]) => key !== name))
    for (const name of closed) {
      const refusal = theirs.refusals?.find(([key]) => key === name)
      if (refusal !== undefined) {
        this.shared.close(name)
        this.#open.get(name)?.reject(readError(refusal[1]))
        this.#open.delete(name)
        continue
      }
      const key = ownKey(name)
      const found = theirs.answers.find(([other]) => other === key)
      // The store may not have the question yet.
      if (found === undefined) continue
      this.shared.close(name)
      this.shared.keep(...found)
      this.#deliver([name])
    }
    return true
  }

  /** Takes over what arrived after the task was claimed, such as an answer, except for the count of crashes, which is newer here. */
  #loadAgain(state: string): void {
    const { crashes } = this.shared
    this.#shared = Object.assign(AttemptState.of(state), { crashes })
  }

  /** Ends this attempt: nothing that its handler does from now on counts. */
  close(reason?: McpError): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== undefined) this.tasks.clock.clear(this.#timer)
    this.#timer = undefined
    this.giveUp?.()
    this.place?.giveUp()
    if (this.call === undefined) return
    if (reason !== undefined) {
      this.call.abort(reason)
      if (this.#open !== undefined) for (const waiting of this.#open.values()) waiting.reject(reason)
    }
    this.#open = undefined
    this.call.finish()
  }
}
