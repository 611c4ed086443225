import { FIRST_ID, ID_DIGITS, SUM_DIGITS, numbered } from './messages.ts'

/**
 * Checks the answers to a series of `add` calls: each must have the right sum for its id and arrive once. The first answer
 * is parsed to find the offsets of its digits; the rest are compared in place, since all answers of a subject have one layout.
 */
export class Answers {
  readonly #sums: Uint32Array
  readonly #open: Uint8Array
  #length = -1
  #idAt = -1
  #sumAt = -1

  constructor(series: number) {
    this.#sums = Uint32Array.from({ length: series }, (_, index) => sumOf(index))
    this.#open = new Uint8Array(series)
  }

  /** Records that request `index` was sent. */
  expect(index: number): void {
    if (this.#open[index] === 1) throw new Error(`request ${FIRST_ID + index} was never answered`)
    this.#open[index] = 1
  }

  /** Checks the answer between two offsets of `text` and returns its index; throws if it is wrong. */
  take(text: string, from: number, to: number): number {
    if (to - from !== this.#length) return this.#learn(text.slice(from, to))
    const index = digits(text, from + this.#idAt, ID_DIGITS) - FIRST_ID
    const sum = digits(text, from + this.#sumAt, SUM_DIGITS)
    if (this.#sums[index] !== sum || this.#open[index] !== 1) throw new Error(wrong(text.slice(from, to)))
    this.#open[index] = 0
    return index
  }

  /** Checks the answers to a batch, a JSON array whose elements all have the same length. */
  takeBatch(text: string, count: number): void {
    const length = (text.length - 1) / count - 1
    if (length !== this.#length) this.#learnBatch(text, count)
    else for (let from = 1; from < text.length; from += length + 1) this.take(text, from, from + length)
  }

  #learnBatch(text: string, count: number): void {
    const answers = text.slice(1, -1).split(/,(?=\{"jsonrpc")/)
    if (answers.length !== count) throw new Error(wrong(text))
    for (const answer of answers) this.#learn(answer)
  }

  #learn(answer: string): number {
    const { id, result } = parse(answer)
    const index = typeof id === 'number' ? id - FIRST_ID : -1
    const sum = result?.content?.[0]?.text
    if (sum !== String(this.#sums[index]) || this.#open[index] !== 1) throw new Error(wrong(answer))
    this.#open[index] = 0
    this.#length = answer.length
    this.#idAt = answer.indexOf(`"id":${FIRST_ID + index}`) + 5
    this.#sumAt = answer.indexOf(`"text":"${sum}"`) + 8
    return index
  }
}

interface Answer {
  readonly id?: unknown
  readonly result?: { readonly content?: readonly { readonly text?: unknown }[] }
}

function parse(answer: string): Answer {
  try {
    return JSON.parse(answer) as Answer
  } catch {
    throw new Error(wrong(answer))
  }
}

function sumOf(index: number): number {
  const { a, b } = numbered(index)
  return a + b
}

function digits(text: string, at: number, count: number): number {
  const end = at + count
  let value = 0
  for (; at < end; at++) value = value * 10 + text.charCodeAt(at) - 48
  return value
}

function wrong(answer: string): string {
  return `wrong answer: ${answer.slice(0, 400)}`
}
