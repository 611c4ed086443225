import { textBytes, weigh } from '../base/weight.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { readState } from './damage.ts'
import { knownAnswer } from './known-answer.ts'
import type { TaskQuestion, TaskState } from './record.ts'

/** What is known of entries, which never change: their memory, and their text with its own. */
interface Known {
  weight: number | undefined
  readonly text: string
  readonly bytes: number
}

type Entry = readonly unknown[]
const entries = new WeakMap<Entry, Known>()

function knownOf(entry: Entry, text?: string): Known {
  let known = entries.get(entry)
  if (known !== undefined) return known
  const own = text ?? JSON.stringify(entry)
  entries.set(entry, (known = { weight: undefined, text: own, bytes: textBytes(own) }))
  return known
}

function weightOf(entry: Entry): number {
  const known = knownOf(entry)
  return (known.weight ??= weigh(entry, Infinity, true))
}

/** The text of a state, the memory that it takes, and the parts that it was made of. */
interface Written {
  readonly text: string
  readonly bytes: number
  readonly parts: readonly unknown[]
}

const NOTHING: Written = { text: '', bytes: 0, parts: [] }

/** What the attempts of a task share, while one of them runs. */
export class AttemptState {
  answers: TaskState['answers'] = []
  once: TaskState['once'] = []
  questions: TaskState['questions'] = []
  asked = 0
  failures = 0
  crashes = 0
  refusals: TaskState['refusals'] = []
  #written = NOTHING

  /** Reads the text of a record. Throws if it is damaged. */
  static of(text: string): AttemptState {
    const shared = new AttemptState()
    if (text !== '') Object.assign(shared, readState(text))
    return shared
  }

  /** The text for the record; empty if there is nothing to keep. */
  get text(): string {
    return this.#write().text
  }

  /** The memory of that text. */
  get textBytes(): number {
    return this.#write().bytes
  }

  /** Makes the text of those of its entries, once for each change: one of them may be large. */
  #write(): Written {
    const { answers, once, questions, asked, failures, crashes, refusals = [] } = this
    if (asked + failures + crashes === 0 && answers.length === 0 && once.length === 0) return NOTHING
    const parts = [answers, once, questions, refusals, asked, failures, crashes]
    if (this.#written.parts.length > 0 && parts.every((part, at) => part === this.#written.parts[at]))
      return this.#written
    let isWide = false
    const list = (all: readonly Entry[]): string => {
      let text = ''
      for (const entry of all) {
        const known = knownOf(entry)
        isWide ||= known.bytes > known.text.length
        text += text === '' ? known.text : `,${known.text}`
      }
      return `[${text}]`
    }
    const more = [
      failures > 0 ? `,"failures":${failures}` : '',
      crashes > 0 ? `,"crashes":${crashes}` : '',
      refusals.length > 0 ? `,"refusals":${list(refusals)}` : '',
    ]
    const lists = `"answers":${list(answers)},"once":${list(once)},"questions":${list(questions)}`
    const text = `{${lists},"asked":${asked}${more.join('')}}`
    return (this.#written = { text, bytes: text.length * (isWide ? 2 : 1), parts })
  }

  /** The memory of its values, besides its text: twice, since the handler has its own of each; and the texts of which that is made. */
  get bytes(): number {
    let sum = 0
    for (const all of [this.answers, this.once, this.questions, this.refusals ?? []])
      for (const entry of all) sum += 2 * weightOf(entry) + knownOf(entry).bytes
    return sum
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
    this.answers = answer === undefined ? others : [...others, [key, question, knownAnswer(question, answer)]]
  }

  /** The questions with these keys, with the bytes of their answers. */
  answersTo(keys: readonly string[]): readonly (readonly [TaskQuestion, bytes: number])[] {
    return this.answers
      .filter(([key]) => keys.includes(key))
      .map((entry) => [entry[1], knownOf(entry).bytes] as const)
  }

  /** The bytes of all answers. */
  get answerBytes(): number {
    return this.answers.reduce((sum, entry) => sum + knownOf(entry).bytes, 0)
  }

  /** Keeps a value of `ctx.once`, whose text may be known. */
  keepOnce(key: string, value: unknown, text?: string): void {
    const entry: TaskState['once'][number] = value === undefined ? [key] : [key, value]
    if (text !== undefined) knownOf(entry, `[${JSON.stringify(key)},${text}]`)
    this.once = [...this.once, entry]
    this.crashes = 0
  }

  /** Forgets a value of `ctx.once`. */
  dropOnce(key: string): void {
    this.once = this.once.filter(([other]) => other !== key)
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

/** The text of questions by name, if the text of each is there because the state was written; undefined otherwise. */
export function textOfQuestions(questions: TaskState['questions']): string | undefined {
  let text = ''
  for (const entry of questions) {
    const whole = entries.get(entry)?.text
    if (whole === undefined) return undefined
    const name = JSON.stringify(entry[0])
    // The whole is `[name,question]`.
    text += `${text === '' ? '' : ','}${name}:${whole.slice(name.length + 2, -1)}`
  }
  return `{${text}}`
}
