import { parentPort } from 'node:worker_threads'
import { type Extent, startRound } from './extent.ts'
import { readText } from '../src/wire/read-text.ts'
import { decodeLine } from '../src/transport/lines/text.ts'
import { FIRST_ID, INITIALIZED, callText, initializeText, numbered, pingText } from './messages.ts'

/**
 * The layers, from the lowest: `step` is one use of a map, not a message; `decode` turns the bytes of a ping into a message;
 * `ping` turns them into the bytes of the answer; `call` does the same for a call with validated arguments.
 */
export type Layer = 'step' | 'decode' | 'ping' | 'call'

/** Which layer is measured, and how long; `subject` is the program to call. */
export interface LayerOptions {
  readonly layer: Layer
  readonly whose: 'limit' | 'ours'
  readonly subject: string
  readonly extent: Extent
}

export interface LayerCount {
  readonly count: number
  readonly seconds: number
}

interface ServerEnd {
  send(text: string): unknown
}

interface SubjectModule {
  connect(receive: (text: string) => void): ServerEnd | Promise<ServerEnd>
}

const SERIES = 256
const LIMITS = { depth: 64, values: 1_000_000, keys: 250_000, containers: 250_000 }

parentPort?.on('message', (options: LayerOptions) => void reply(options))

/** Runs a layer repeatedly for a while; throws at the first wrong answer. */
export function measureLayer(options: LayerOptions): LayerCount | Promise<LayerCount> {
  const { layer, whose, extent } = options
  if (layer === 'step') return timed(extent, step)
  if (layer === 'decode') return timed(extent, whose === 'ours' ? readOne : parseOne)
  return timedAnswers(options)
}

async function reply(options: LayerOptions): Promise<void> {
  try {
    parentPort?.postMessage(await measureLayer(options))
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
}

const open = new Map<number, object>()

/** The cost of a table of open requests: insert, look up, delete. */
function step(index: number): boolean {
  open.set(index, open)
  return open.get(index) === open && open.delete(index)
}

const PINGS = Array.from({ length: SERIES }, (_, index) => Buffer.from(pingText(FIRST_ID + index)))

function readOne(index: number): boolean {
  const message = readText(decodeLine(PINGS[index]!) ?? '', LIMITS) as { readonly id?: unknown }
  return message.id === FIRST_ID + index
}

function parseOne(index: number): boolean {
  const message = JSON.parse(PINGS[index]!.toString('utf8')) as { readonly id?: unknown }
  return message.id === FIRST_ID + index
}

function timed(extent: Extent, act: (index: number) => boolean): LayerCount {
  const start = performance.now()
  const isOver = startRound(extent)
  let count = 0
  for (; !isOver(count); count += SERIES)
    for (let index = 0; index < SERIES; index++) if (!act(index)) throw new Error('a step failed')
  return { count, seconds: (performance.now() - start) / 1000 }
}

/** Bytes in, bytes out. The first answer to each request is parsed and checked; later ones must have the same bytes. */
async function timedAnswers({ layer, subject, extent }: LayerOptions): Promise<LayerCount> {
  const textOf = (index: number): string =>
    layer === 'ping' ? pingText(FIRST_ID + index) : callText(numbered(index), '2025-11-25')
  const requests = Array.from({ length: SERIES }, (_, index) => Buffer.from(textOf(index)))
  const client = await Client.open(subject)
  const expected: Buffer[] = []
  for (const [index, request] of requests.entries())
    expected.push(checked(await client.ask(request), index, layer))
  const start = performance.now()
  const isOver = startRound(extent)
  let count = 0
  for (; !isOver(count); count += SERIES) await client.askAll(requests, expected)
  return { count, seconds: (performance.now() - start) / 1000 }
}

function checked(answer: Buffer, index: number, layer: Layer): Buffer {
  const { id, result } = JSON.parse(answer.toString('utf8')) as {
    readonly id?: unknown
    readonly result?: { readonly content?: readonly { readonly text?: unknown }[] }
  }
  const { a, b } = numbered(index)
  const isRight = layer === 'ping' ? result !== undefined : result?.content?.[0]?.text === String(a + b)
  if (id !== FIRST_ID + index || !isRight) throw new Error(`wrong answer: ${answer.toString('utf8')}`)
  return answer
}

/** A client of a server in this thread; answers arrive in the order of the requests. */
class Client {
  #end: ServerEnd | undefined
  #take: (answer: Buffer) => void = () => {}

  static async open(subject: string): Promise<Client> {
    const client = new Client()
    const module = (await import(subject)) as SubjectModule
    client.#end = await module.connect((text) => client.#take(Buffer.from(text)))
    await client.ask(Buffer.from(initializeText(FIRST_ID - 1)))
    client.#send(Buffer.from(INITIALIZED))
    return client
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
