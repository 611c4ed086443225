import { weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { readState } from './damage.ts'
import type { TaskQuestion, TaskState } from './record.ts'

/** The memory of entries, which never change. */
const weights = new WeakMap<object, number>()

function weightOf(entry: readonly unknown[]): number {
  const known = weights.get(entry)
  if (known !== undefined) return known
  const weight = weigh(entry, Infinity, true)
  weights.set(entry, weight)
  return weight
}

/** What the attempts of a task share, while one of them runs. */
export class AttemptState {
  answers: TaskState['answers'] = []
  once: TaskState['once'] = []
  questions: TaskState['questions'] = []
  asked = 0
  failures = 0
  crashes = 0
  refusals: TaskState['refusals'] = []

  /** Reads the text of a record. Throws if it is damaged. */
  static of(text: string): AttemptState {
    const shared = new AttemptState()
    if (text !== '') Object.assign(shared, readState(text))
    return shared
  }

  /** The text for the record; empty if there is nothing to keep. */
  get text(): string {
    const { answers, once, questions, asked, failures, crashes, refusals = [] } = this
    if (asked + failures + crashes === 0 && answers.length === 0 && once.length === 0) return ''
    return JSON.stringify({
      answers,
      once,
      questions,
      asked,
      ...(failures > 0 && { failures }),
      ...(crashes > 0 && { crashes }),
      ...(refusals.length > 0 && { refusals }),
    })
  }

  /** The memory of its values, besides its text: twice, since the handler has its own of each. */
  get bytes(): number {
    let sum = 0
    for (const entries of [this.answers, this.once, this.questions, this.refusals ?? []])
      for (const entry of entries) sum += weightOf(entry)
    return 2 * sum
  }

  /** The text for a new task that continues this one: its values and answers, but not its mishaps. */
  get textForRetry(): string {
    return Object.assign(new AttemptState(), this, { failures: 0, crashes: 0, refusals: [] }).text
  }

  /** Opens a question; one that an earlier attempt left open, and that is the same, keeps its key. */
  open(key: string, question: TaskQuestion): string {
    const same = this.questions.find(([name, other]) => ownKey(name) === key && isSame(other, question))
    if (same !== undefined) return same[0]
    // The number makes keys unique over the life of the task, whatever handlers choose.
    const name = `${key}.${++this.asked}`
    this.questions = [...this.questions.filter(([other]) => ownKey(other) !== key), [name, question]]
    return name
  }

  /** Takes the answers to open questions, and ignores all others. Returns the keys that it took. */
  take(responses: Iterable<readonly [string, JsonObject]>): readonly string[] {
    const taken: string[] = []
    for (const [name, answer] of responses) {
      const open = this.questions.find(([key]) => key === name)
      if (open === undefined) continue
      this.close(name)
      this.keep(ownKey(name), open[1], answer)
      taken.push(name)
    }
    return taken
  }

  /** Opens questions again whose answers could not be stored. */
  reopen(questions: TaskState['questions']): void {
    for (const [name, question] of questions) this.keep(ownKey(name), question, undefined)
    this.questions = [...questions, ...this.questions]
  }

  /** Gives up a question. */
  close(name: string): void {
    this.questions = this.questions.filter(([key]) => key !== name)
  }

  /** Gives up a question that the client refused, for the node that waits, or the attempt that asks again. False if it is not open. */
  refuse(name: string, error: string): boolean {
    const open = this.questions.find(([key]) => key === name)
    if (open === undefined) return false
    this.close(name)
    this.refusals = [...(this.refusals ?? []), [name, error, open[1]]]
    return true
  }

  /** The error of a question that the client refused before this attempt asked it, for once. */
  takeRefusal(key: string, question: TaskQuestion): string | undefined {
    const refused = this.refusals?.find(
      ([name, , other]) => ownKey(name) === key && other !== undefined && isSame(other, question),
    )
    if (refused === undefined) return undefined
    this.refusals = this.refusals?.filter((one) => one !== refused)
    return refused[1]
  }

  /** Keeps an answer by the key of its question; without one, forgets it. */
  keep(key: string, question: TaskQuestion, answer: JsonObject | undefined): void {
    const others = this.answers.filter(([other]) => other !== key)
    this.answers = answer === undefined ? others : [...others, [key, question, answer]]
  }

  /** The answer to a question; with `mustBeSame`, only if the question was the same. */
  answerTo(key: string, question: TaskQuestion, mustBeSame: boolean): JsonObject | undefined {
    const found = this.answers.find(([other]) => other === key)
    return found === undefined || (mustBeSame && !isSame(found[1], question)) ? undefined : found[2]
  }
}

/** The key that the handler gave a question. */
export function ownKey(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

function isSame(one: TaskQuestion, other: TaskQuestion): boolean {
  return JSON.stringify([one.method, one.params]) === JSON.stringify([other.method, other.params])
}
