import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { Answers } from '../answers.ts'
import { type Extent, failOnStall, startRound } from '../extent.ts'
import { Histogram } from '../histogram.ts'
import { FIRST_ID, INITIALIZED, callText, initializeText, numbered } from '../messages.ts'
import { usageOf } from '../usage.ts'

/** One round of load over stdio. */
export interface StdioRound {
  readonly count: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly serverCpuMs: number
  readonly rssBytes: number
}

const SERIES = 16_384
const LINE_END = 10
const START_MS = 30_000
const EXIT_MS = 10_000

type Child = ChildProcessByStdio<Writable, Readable, null>

/** A stdio server with a client on its pipes. */
export class Pipe {
  readonly #child: Child
  readonly #answers = new Answers(SERIES)
  readonly #lines: Buffer
  readonly #lineBytes: number
  #rest = ''
  #next = 0
  #receive: (count: number) => void = () => {}
  #fail: (error: Error) => void = () => {}

  private constructor(child: Child) {
    this.#child = child
    const lines = Array.from({ length: SERIES }, (_, index) => `${callText(numbered(index), '2025-11-25')}\n`)
    this.#lines = Buffer.from(lines.join(''), 'latin1')
    this.#lineBytes = this.#lines.length / SERIES
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes))
    child.on('exit', () => this.#fail(new Error('the server exited')))
  }

  /** Starts a server and opens a session; also returns the time to the first answer. */
  static async open(file: string, options: string): Promise<{ readonly pipe: Pipe; readonly ms: number }> {
    const start = performance.now()
    const child = spawn(process.execPath, [file, options], { stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.write(`${initializeText(FIRST_ID - 1)}\n`)
    const ms = await firstLine(child, start)
    child.stdin.write(`${INITIALIZED}\n`)
    return { pipe: new Pipe(child), ms }
  }

  /** Keeps `inFlight` calls in flight; throws at the first wrong answer. */
  async load(inFlight: number, extent: Extent): Promise<StdioRound> {
    const pid = this.#child.pid ?? 0
    const cpuBefore = usageOf(pid).cpuMs
    const latencies = new Histogram()
    const start = performance.now()
    const isOver = startRound(extent)
    let count = 0
    let open = inFlight
    let sentAt = start
    const answered = new Promise<void>((done, fail) => {
      this.#fail = fail
      this.#receive = (answers) => {
        const now = performance.now()
        if (inFlight === 1) latencies.add(now - sentAt)
        count += answers
        open -= answers
        if (!isOver(count)) {
          open += answers
          sentAt = performance.now()
          this.#send(answers)
        } else if (open === 0) done()
      }
      sentAt = performance.now()
      this.#send(inFlight)
    })
    await failOnStall(answered, () => count)
    const { cpuMs, rssBytes } = usageOf(pid)
    return {
      count,
      seconds: (performance.now() - start) / 1000,
      p50: latencies.percentile(0.5),
      p99: latencies.percentile(0.99),
      serverCpuMs: cpuMs - cpuBefore,
      rssBytes,
    }
  }

  /** The CPU time of the server so far. */
  cpuMs(): number {
    return usageOf(this.#child.pid ?? 0).cpuMs
  }

  /** Stops the server by closing its input; kills it if it does not exit. */
  async close(): Promise<void> {
    this.#fail = () => {}
    await endChild(this.#child)
  }

  /** Writes the next requests of the series in one piece, or two if the series wraps. */
  #send(count: number): void {
    const now = Math.min(count, SERIES - this.#next)
    for (let index = this.#next; index < this.#next + now; index++) this.#answers.expect(index)
    this.#child.stdin.write(
      this.#lines.subarray(this.#next * this.#lineBytes, (this.#next + now) * this.#lineBytes),
    )
    this.#next = (this.#next + now) % SERIES
    if (now < count) this.#send(count - now)
  }

  #read(bytes: Buffer): void {
    const piece = bytes.toString('latin1')
    const text = this.#rest === '' ? piece : this.#rest + piece
    let from = 0
    let count = 0
    try {
      for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
        this.#answers.take(text, from, to)
        from = to + 1
        count++
      }
    } catch (error) {
      this.#fail(error as Error)
      return
    }
    this.#rest = from === text.length ? '' : text.slice(from)
    if (count > 0) this.#receive(count)
  }
}

/** Stops a child by closing its input; kills it if it does not exit. */
export async function endChild(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((done) => void child.once('exit', () => done()))
  const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS)
  child.stdin.end()
  await exited
  clearTimeout(timer)
}

async function firstLine(child: Child, start: number): Promise<number> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('the server did not answer')), START_MS)
    const onExit = (): void => fail(new Error('the server exited before its first answer'))
    child.once('exit', onExit)
    child.stdout.on('data', function read(bytes: Buffer) {
      if (bytes.at(-1) !== LINE_END) return
      child.stdout.off('data', read)
      child.off('exit', onExit)
      clearTimeout(timer)
      done(performance.now() - start)
    })
  })
}
