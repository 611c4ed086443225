import type { JsonObject } from '../../../src/protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../../../src/protocol/revisions.ts'
import { watched, type Watched } from '../app.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { spell } from '../json-text.ts'
import { mutateValue } from '../mutate.ts'
import { ANSWERS, initialize, REQUESTS } from '../requests.ts'
import { expectedFor, keyOf, readReply } from '../replies.ts'
import { messageText } from '../seeds.ts'

interface Input {
  /** What was agreed on before, if anything. */
  readonly opened: Revision | undefined
  readonly texts: readonly string[]
  /** What the client answers when it is asked, as JSON. */
  readonly answer: string
}

let served: Watched
/** Far more than anything takes here, the loading of modules included. */
const LONG_MS = 5000
/** Enough for a question and its answer; who is still owed something then may wait for ever. */
const FEW_TICKS = 6

/** Whatever a client says, each request has one reply under its id, in order and without secrets, and handlers see only what fits their schemas. */
export const serverTarget: Target = target<Input>({
  name: 'server',
  share: 19,
  start() {
    served = watched()
  },
  make(random) {
    const revision = random.pick(REVISIONS)
    const opened = revision === '2026-07-28' || random.oneIn(8) ? undefined : revision
    const requests = REQUESTS.get(revision) as readonly JsonObject[]
    return {
      opened,
      texts: Array.from({ length: 1 + random.few(4) }, () => messageText(random, requests)),
      answer: spell(
        random.oneIn(3) ? random.pick(ANSWERS) : mutateValue(random.pick(ANSWERS), random),
        random,
      ),
    }
  },
  async check({ opened, texts, answer }) {
    served.faults.length = 0
    const visit = new Visit(served, answer)
    if (opened !== undefined) visit.open(opened)
    for (const text of texts) visit.say(text)
    const begun = performance.now()
    for (let tick = 0; visit.owed > (tick < FEW_TICKS ? 0 : visit.excused); tick++) {
      if (tick > FEW_TICKS && performance.now() - begun > LONG_MS) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    visit.leave()
    claim(visit.owed <= visit.excused, `${visit.owed} of the requests have no reply: ${visit.show()}`)
    claim(served.faults.length === 0, `a fault in the server: ${served.faults[0]}`)
    claim(Object.keys(Object.prototype).length === 0, 'every object was changed')
  },
  *shrink(input) {
    for (const [at] of input.texts.entries()) yield { ...input, texts: input.texts.toSpliced(at, 1) }
    for (const [at, text] of input.texts.entries()) {
      for (let size = Math.ceil(text.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
        for (let from = 0; from < text.length; from += size)
          yield { ...input, texts: input.texts.with(at, text.slice(0, from) + text.slice(from + size)) }
      }
    }
  },
})

/** One client: what it said, what it is owed, what it heard. */
class Visit {
  /** How many requests may stay without a reply: those that wait for an answer, last, or were cancelled. */
  excused = 0
  /** Whether several messages may come in one: agreed on when a session is opened, by whomever. */
  #batches = false
  readonly #owed = new Map<string, number>()
  readonly #heard: string[] = []
  readonly #end: ReturnType<Watched['app']['connect']>
  readonly #answer: string

  constructor({ app }: Watched, answer: string) {
    this.#answer = answer
    this.#end = app.connect({ receive: (text) => this.#hear(text) })
  }

  get owed(): number {
    let sum = 0
    for (const count of this.#owed.values()) sum += count
    return sum
  }

  open(revision: Revision): void {
    this.say(JSON.stringify({ ...initialize(revision), id: 'open' }))
    this.say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  say(text: string): void {
    const { ids, anonymous } = expectedFor(text, this.#batches)
    for (const id of ids) this.#add(id, 1)
    if (anonymous > 0) this.#add('', anonymous)
    const plain = text.includes('\\') ? unescaped(text) : text
    if (/ask|listen/.test(plain)) this.excused += ids.length + anonymous
    if (plain.includes('cancelled')) this.excused += 100
    this.#end.send(text)
  }

  leave(): void {
    this.#end.close()
  }

  show(): string {
    return `${JSON.stringify([...this.#owed])} after ${JSON.stringify(this.#heard).slice(0, 600)}`
  }

  #hear(text: string): void {
    this.#heard.push(text)
    for (const { id, method, result } of readReply(text)) {
      this.#batches ||= result?.['protocolVersion'] === '2025-03-26'
      if (method === undefined) this.#add(id === undefined ? '' : keyOf(id), -1)
      else if (id !== undefined) this.#reply(id)
    }
    for (const [id, count] of this.#owed)
      claim(count >= 0, `a reply nobody asked for, or a second one, under ${id}: ${this.show()}`)
  }

  #reply(id: string | number): void {
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${this.#answer}}`
    queueMicrotask(() => this.say(text))
  }

  #add(id: string, count: number): void {
    this.#owed.set(id, (this.#owed.get(id) ?? 0) + count)
  }
}

function unescaped(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
