import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Trace } from './trace.ts'
import { isLikeMessage, MOST_BYTES, Wire } from './wire.ts'

let count = 0

/** Lines over a pair of streams: stdio and sockets. */
export class LineWire extends Wire {
  readonly transport: 'stdio' | 'tcp'
  /** The beginning of a line. It is only added to until its end comes, which takes no time. */
  #rest = ''
  readonly name: string
  readonly #output: Writable
  readonly #release: () => Promise<void>

  constructor(
    transport: 'stdio' | 'tcp',
    streams: { readonly input: Readable; readonly output: Writable },
    release: () => Promise<void>,
    trace: Trace,
    /** Tells why the peer ended its output. */
    ending: () => Promise<string> | string = () => 'the peer ended its output',
  ) {
    super(trace)
    this.transport = transport
    this.name = `${transport} ${++count}`
    this.#output = streams.output
    this.#release = release
    const decoder = new StringDecoder('utf8')
    streams.input.on('data', (chunk: Uint8Array) => this.#read(decoder.write(Buffer.from(chunk))))
    streams.input.on('end', () => void this.#endFor(ending))
    streams.input.on('close', () => streams.input.readableEnded || this.end('the peer closed the connection'))
    streams.input.on('error', (error: Error) => this.end(error.message))
    // A program that has ended says why, and its closed pipe does not.
    streams.output.on('error', (error: Error) =>
      transport === 'stdio' ? void this.#endFor(ending) : this.end(error.message),
    )
    // The program may have ended before anyone listened.
    if (streams.input.readableEnded) void this.#endFor(ending)
  }

  override get hasOddMessages(): boolean {
    return super.hasOddMessages || isLikeMessage(this.#rest)
  }

  #read(text: string): void {
    if (this.isStopped) return
    const [first = '', ...lines] = text.split('\n')
    this.#rest += first
    for (const next of lines) {
      this.take(this.#rest, this.name)
      this.#rest = next
    }
    if (this.#rest.length > MOST_BYTES) {
      this.#rest = ''
      this.stop('the peer sent a line without end')
    }
  }

  async #endFor(ending: () => Promise<string> | string): Promise<void> {
    this.end(await ending())
  }

  async send(text: string): Promise<undefined> {
    this.give(text)
    this.trace.add({ from: 'validator', stream: this.name, text })
    await this.#write(`${text}\n`)
  }

  async sendBytes(bytes: Uint8Array): Promise<undefined> {
    this.trace.add({ from: 'validator', stream: this.name, text: `(${bytes.length} bytes)` })
    await this.#write(bytes)
  }

  /** Sends a piece of a line, without its end. */
  async sendPart(text: string): Promise<void> {
    this.give(text)
    this.trace.add({ from: 'validator', stream: this.name, text })
    await this.#write(text)
  }

  /** Ends our output, as a client does that leaves. */
  endOutput(): void {
    this.trace.add({ from: 'validator', stream: this.name, text: '(end of input)' })
    this.#output.end()
  }

  async #write(data: string | Uint8Array): Promise<void> {
    if (this.ended !== undefined) return
    await new Promise<void>((resolve) => {
      // A peer that does not read must not hold us up for ever.
      const timer = setTimeout(resolve, 2_000)
      this.#output.write(data, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    this.end('closed by the validator')
    await this.#release()
  }
}
