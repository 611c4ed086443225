import { Answers } from './answers.ts'
import {
  FIRST_ID,
  INITIALIZED,
  type Revision,
  batchText,
  callText,
  initializeText,
  numbered,
} from './messages.ts'
import { runCommands } from './commands.ts'
import { type Extent, startRound } from './extent.ts'

/** The commands of a process that runs both servers and their clients. */
export interface InProcessCommands {
  /** Connects to a server of the subject under a name; `wide` is the number of wide tools, if the subject supports them. */
  readonly open: {
    readonly name: string
    readonly subject: string
    readonly revision: Revision
    /** The number of calls in one message; more than one is a batch. */
    readonly batch?: number
    readonly wide?: number
  }
  readonly call: { readonly name: string; readonly extent: Extent }
  readonly heap: Record<never, never>
}

/** One round in process. */
export interface InProcessRound {
  readonly count: number
  readonly seconds: number
}

/** The heap after a full garbage collection. */
export interface Heap {
  readonly bytes: number
}

interface ServerEnd {
  send(text: string): unknown
}

interface SubjectModule {
  connect(receive: (text: string) => void, wide?: number): ServerEnd | Promise<ServerEnd>
}

const SERIES = 8000
const WINDOW = 64
const STALL_MS = 10_000

const clients = new Map<string, Client>()

runCommands<InProcessCommands>({
  open: async (command) => void clients.set(command.name, await Client.open(command)),
  call: ({ name, extent }) => {
    const client = clients.get(name)
    if (!client) throw new Error(`${name} was not opened`)
    return client.callFor(extent)
  },
  heap: (): Heap => {
    for (let turn = 0; turn < 3; turn++) globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    return { bytes: heapUsed + external }
  },
})

/** A client of one server in this process. */
class Client {
  readonly #answers = new Answers(SERIES)
  readonly #texts: readonly string[]
  readonly #batch: number
  #end: ServerEnd | undefined
  #next = 0
  #open = 0
  #wake: () => void = () => {}
  #failed: Error | undefined
  #stalled: NodeJS.Timeout | undefined

  private constructor(revision: Revision, batch: number) {
    this.#batch = batch
    this.#texts = Array.from({ length: SERIES / batch }, (_, index) =>
      batch === 1 ? callText(numbered(index), revision) : batchText(index * batch, batch),
    )
  }

  static async open({ subject, revision, batch = 1, wide }: InProcessCommands['open']): Promise<Client> {
    const module = (await import(subject)) as SubjectModule
    const client = new Client(revision, batch)
    let receive: (text: string) => void
    const end = await module.connect((text) => receive(text), wide)
    if (revision !== '2026-07-28') {
      const answered = new Promise<string>((done) => (receive = done))
      await end.send(initializeText(FIRST_ID - 1, revision))
      await answered
      await end.send(INITIALIZED)
    }
    receive = batch === 1 ? (text) => client.#take(text) : (text) => client.#takeBatch(text)
    client.#end = end
    return client
  }

  /** Repeatedly sends a window of calls and waits for all answers; throws at the first wrong one. */
  async callFor(extent: Extent): Promise<InProcessRound> {
    const start = performance.now()
    const isOver = startRound(extent)
    const messages = Math.ceil(WINDOW / this.#batch)
    let count = 0
    do {
      this.#open = messages
      for (let sent = 0; sent < messages; sent++) this.#send()
      if (this.#open > 0) await this.#drained()
      if (this.#failed) throw this.#failed
      count += messages * this.#batch
    } while (!isOver(count))
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    return { count, seconds: (performance.now() - start) / 1000 }
  }

  #send(): void {
    const first = this.#next * this.#batch
    for (let index = first; index < first + this.#batch; index++) this.#answers.expect(index)
    const text = this.#texts[this.#next] as string
    this.#next = (this.#next + 1) % this.#texts.length
    void this.#end?.send(text)
  }

  #take(text: string): void {
    try {
      this.#answers.take(text, 0, text.length)
    } catch (error) {
      this.#failed ??= error as Error
    }
    if (--this.#open === 0) this.#wake()
  }

  #takeBatch(text: string): void {
    try {
      this.#answers.takeBatch(text, this.#batch)
    } catch (error) {
      this.#failed ??= error as Error
    }
    if (--this.#open === 0) this.#wake()
  }

  /** Waits for the last answer of the window; one timer per round guards against a server that never answers. */
  async #drained(): Promise<void> {
    this.#stalled ??= setTimeout(() => {
      this.#failed ??= new Error('an answer timed out')
      this.#wake()
    }, STALL_MS)
    this.#stalled.refresh()
    await new Promise<void>((done) => (this.#wake = done))
  }
}

process.on('disconnect', () => process.exit(0))
