import { FIRST_ID, ID_DIGITS, SUM_DIGITS, type Sent, numbered, sentText } from '../messages.ts'
import type { Framing } from './framing.ts'

/** The number of requests before the series repeats. */
export const SERIES = 1024

/** A series of requests of the same length, as bytes. */
export class Series {
  readonly sent: Sent
  readonly #bytes: Buffer
  readonly #stride: number

  constructor(sent: Sent, framing: Framing) {
    this.sent = sent
    const requests = Array.from({ length: SERIES }, (_, index) => framing.encode(sentText(sent, index)))
    this.#bytes = Buffer.concat(requests)
    this.#stride = this.#bytes.length / SERIES
    if (requests.some(({ length }) => length !== this.#stride)) throw new Error('requests differ in length')
  }

  /** `count` requests starting with `index`; the range must not pass the end of the series. */
  bytesOf(index: number, count: number): Buffer {
    return this.#bytes.subarray(index * this.#stride, (index + count) * this.#stride)
  }
}

/** The expected text in the answer to a request. */
export function answerOf(sent: Sent, index: number): string {
  const { id, a, b } = numbered(index)
  if (sent === 'call') return String(a + b)
  return sent === 'start' ? String(id) : textOf(index)
}

function textOf(index: number): string {
  const { params } = JSON.parse(sentText('echo', index)) as { params: { arguments: { text: string } } }
  return params.arguments.text
}

/**
 * Checks the answers on one connection: each must match an open request, arrive once, and have exactly the expected bytes.
 * The first answer is parsed to find the offsets of the digits that vary between answers.
 */
export class Checker {
  readonly #sent: Sent
  readonly #open = new Uint8Array(SERIES)
  readonly #digits: number
  #expected = Buffer.alloc(0)
  #idAt = -1
  #valueAt = -1

  constructor(sent: Sent) {
    this.#sent = sent
    this.#digits = sent === 'call' ? SUM_DIGITS : ID_DIGITS
  }

  /** Records that a request was sent. */
  expect(index: number): void {
    if (this.#open[index] === 1) throw new Error(`request ${FIRST_ID + index} was never answered`)
    this.#open[index] = 1
  }

  /** Checks the answer between two offsets and returns the index of its request; throws if it is wrong. */
  take(bytes: Buffer, from: number, to: number): number {
    if (to - from !== this.#expected.length) return this.#learn(bytes.toString('utf8', from, to))
    const index = digitsAt(bytes, from + this.#idAt) - FIRST_ID
    const { id, a, b } = numbered(index)
    putDigits(this.#expected, this.#idAt, id, ID_DIGITS)
    putDigits(this.#expected, this.#valueAt, this.#sent === 'call' ? a + b : id, this.#digits)
    if (this.#open[index] !== 1 || this.#expected.compare(bytes, from, to) !== 0)
      throw new Error(wrong(bytes.toString('utf8', from, to)))
    this.#open[index] = 0
    return index
  }

  #learn(answer: string): number {
    const { id, result } = JSON.parse(answer) as {
      readonly id?: number
      readonly result?: { readonly content?: readonly { readonly text?: unknown }[] }
    }
    const index = (id ?? 0) - FIRST_ID
    const text = result?.content?.[0]?.text
    if (this.#open[index] !== 1 || text !== answerOf(this.#sent, index)) throw new Error(wrong(answer))
    this.#open[index] = 0
    this.#expected = Buffer.from(answer)
    this.#idAt = answer.indexOf(`"id":${id}`) + 5
    this.#valueAt = answer.indexOf(`"text":"${text}"`) + 8
    return index
  }
}

/** Overwrites `count` digits with a number. */
export function putDigits(bytes: Buffer, at: number, value: number, count: number): void {
  for (let place = at + count - 1; place >= at; place--) {
    bytes[place] = 48 + (value % 10)
    value = (value / 10) | 0
  }
}

function digitsAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let place = at; place < at + ID_DIGITS; place++) value = value * 10 + (bytes[place] ?? 0) - 48
  return value
}

function wrong(answer: string): string {
  return `wrong answer: ${answer.slice(0, 400)}`
}
