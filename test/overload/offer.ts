import { Agent } from 'node:http'
import { send, type Received } from '../http/wire.ts'

/** What became of an offered load. */
export interface Outcome {
  /** Answers in time, per second until the last of them. */
  readonly goodput: number
  /** How many ended in each way: by HTTP status, `late`, or what went wrong. */
  readonly ends: Readonly<Record<string, number>>
  readonly refused: readonly Received[]
  /** The latest 99 % of answers in time took at most this many milliseconds. */
  readonly p99: number
}

interface Request {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface OfferOptions {
  readonly port: number
  readonly ms: number
  /** Answers after this time are worth nothing. */
  readonly deadlineMs: number
  readonly request: (id: number) => Request
}

/** Offers so many requests a second, whatever becomes of those before. */
export async function offer(perSecond: number, options: OfferOptions): Promise<Outcome> {
  const record = new Recorder(options)
  const began = performance.now()
  const ends: Promise<void>[] = []
  while (performance.now() - began < options.ms) {
    const due = ((performance.now() - began) / 1000) * perSecond
    while (ends.length < due) ends.push(record.one(ends.length))
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
  await Promise.all(ends)
  return record.outcome()
}

/** Keeps so many requests going: what the server does at its best. */
export async function saturate(workers: number, options: OfferOptions): Promise<Outcome> {
  const record = new Recorder(options)
  const began = performance.now()
  let id = 0
  const work = async (): Promise<void> => {
    while (performance.now() - began < options.ms) await record.one(id++)
  }
  await Promise.all(Array.from({ length: workers }, work))
  return record.outcome()
}

class Recorder {
  readonly #options: OfferOptions
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  readonly #ends = new Map<string, number>()
  readonly #refused: Received[] = []
  readonly #times: number[] = []
  readonly #began = performance.now()
  #last = 0

  constructor(options: OfferOptions) {
    this.#options = options
  }

  async one(id: number): Promise<void> {
    const { port, deadlineMs, request } = this.#options
    const began = performance.now()
    const how = await send(port, { ...request(id), agent: this.#agent }).then(
      (reply) => {
        if (reply.status !== 200) this.#refused.push(reply)
        return String(reply.status)
      },
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    )
    const took = performance.now() - began
    const end = how === '200' && took > deadlineMs ? 'late' : how
    if (end === '200') {
      this.#times.push(took)
      this.#last = performance.now()
    }
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1)
  }

  outcome(): Outcome {
    this.#agent.destroy()
    const sorted = this.#times.toSorted((one, other) => one - other)
    return {
      goodput: (sorted.length / Math.max(this.#options.ms, this.#last - this.#began)) * 1000,
      ends: Object.fromEntries(this.#ends),
      refused: this.#refused,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    }
  }
}
