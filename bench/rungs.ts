import { parentPort } from 'node:worker_threads'
import { readText } from '../src/wire/read-text.ts'
import { decodeLine } from '../src/transport/lines/text.ts'
import { FIRST_ID, INITIALIZED, callText, initializeText, numbered, pingText } from './messages.ts'

/**
 * The rungs, from the lowest: a step of a data structure, which is no message; a ping from bytes to a message; a ping from
 * bytes to the bytes of its answer; a call, whose arguments are validated, from bytes to the bytes of its answer.
 */
export type Rung = 'step' | 'decode' | 'ping' | 'call'

/** Whose rung is climbed, and for how long; `subject` is the program to call. */
export interface RungOrder {
  readonly rung: Rung
  readonly whose: 'limit' | 'ours'
  readonly subject: string
  readonly seconds: number
}

export interface RungCount {
  readonly count: number
  readonly seconds: number
}

interface End {
  send(text: string): unknown
}

interface SubjectModule {
  connect(receive: (text: string) => void): End | Promise<End>
}

const SERIES = 256
const DEPTH = 64

parentPort?.on('message', (order: RungOrder) => void reply(order))

/** Does a rung again and again for a while; throws at the first wrong answer. */
export function climb(order: RungOrder): RungCount | Promise<RungCount> {
  if (order.rung === 'step') return timed(order.seconds, step)
  if (order.rung === 'decode') return timed(order.seconds, order.whose === 'ours' ? readOne : parseOne)
  return answered(order)
}

async function reply(order: RungOrder): Promise<void> {
  try {
    parentPort?.postMessage(await climb(order))
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
}

const open = new Map<number, object>()

/** What a table of open requests costs: in, looked up, out. */
function step(index: number): boolean {
  open.set(index, open)
  return open.get(index) === open && open.delete(index)
}

const PINGS = Array.from({ length: SERIES }, (_, index) => Buffer.from(pingText(FIRST_ID + index)))

function readOne(index: number): boolean {
  const message = readText(decodeLine(PINGS[index]!) ?? '', DEPTH) as { readonly id?: unknown }
  return message.id === FIRST_ID + index
}

function parseOne(index: number): boolean {
  const message = JSON.parse(PINGS[index]!.toString('utf8')) as { readonly id?: unknown }
  return message.id === FIRST_ID + index
}

function timed(seconds: number, act: (index: number) => boolean): RungCount {
  const start = performance.now()
  const until = start + seconds * 1000
  let count = 0
  let now = start
  for (; now < until; now = performance.now(), count += SERIES)
    for (let index = 0; index < SERIES; index++) if (!act(index)) throw new Error('a step went wrong')
  return { count, seconds: (now - start) / 1000 }
}

/** Bytes in, bytes out; every answer is compared with the one that was looked at when it came first. */
async function answered({ rung, subject, seconds }: RungOrder): Promise<RungCount> {
  const textOf = (index: number): string =>
    rung === 'ping' ? pingText(FIRST_ID + index) : callText(numbered(index), '2025-11-25')
  const requests = Array.from({ length: SERIES }, (_, index) => Buffer.from(textOf(index)))
  const line = await Line.open(subject)
  const expected: Buffer[] = []
  for (const [index, request] of requests.entries())
    expected.push(checked(await line.ask(request), index, rung))
  const start = performance.now()
  const until = start + seconds * 1000
  let count = 0
  let now = start
  for (; now < until; now = performance.now(), count += SERIES) await line.askAll(requests, expected)
  return { count, seconds: (now - start) / 1000 }
}

function checked(answer: Buffer, index: number, rung: Rung): Buffer {
  const { id, result } = JSON.parse(answer.toString('utf8')) as {
    readonly id?: unknown
    readonly result?: { readonly content?: readonly { readonly text?: unknown }[] }
  }
  const { a, b } = numbered(index)
  const isRight = rung === 'ping' ? result !== undefined : result?.content?.[0]?.text === String(a + b)
  if (id !== FIRST_ID + index || !isRight) throw new Error(`wrong answer: ${answer.toString('utf8')}`)
  return answer
}

/** A connection to a server in this thread; answers come in the order of requests. */
class Line {
  #end: End | undefined
  #take: (answer: Buffer) => void = () => {}

  static async open(subject: string): Promise<Line> {
    const line = new Line()
    const module = (await import(subject)) as SubjectModule
    line.#end = await module.connect((text) => line.#take(Buffer.from(text)))
    await line.ask(Buffer.from(initializeText(FIRST_ID - 1)))
    line.#send(Buffer.from(INITIALIZED))
    return line
  }

  ask(request: Buffer): Promise<Buffer> {
    return new Promise((done) => {
      this.#take = done
      this.#send(request)
    })
  }

  async askAll(requests: readonly Buffer[], expected: readonly Buffer[]): Promise<void> {
    let next = 0
    let wrong: Buffer | undefined
    let finish: (() => void) | undefined
    this.#take = (answer) => {
      if (!expected[next++]!.equals(answer)) wrong ??= answer
      if (next === requests.length) finish?.()
    }
    for (const request of requests) this.#send(request)
    if (next < requests.length) await new Promise<void>((done) => (finish = done))
    if (wrong) throw new Error(`wrong answer: ${wrong.toString('utf8')}`)
  }

  #send(bytes: Buffer): void {
    void this.#end?.send(decodeLine(bytes) ?? '')
  }
}
