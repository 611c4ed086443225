import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { startProcess, type ServerProcess } from '../transport/stdio/process.ts'
import { toLaunch, type Command } from '../transport/stdio/launch.ts'
import { openSocket } from '../transport/tcp/open.ts'
import type { Trace } from './trace.ts'
import { MOST_BYTES, Wire } from './wire.ts'

/** How long a program may take to end after its input was closed. */
const GRACE_MS = 2_000

let count = 0

/** Lines over a pair of streams: stdio and sockets. */
export class LineWire extends Wire {
  readonly transport: 'stdio' | 'tcp'
  /** Lines that came without a newline at the end of the stream. */
  rest = ''
  readonly name: string
  readonly #output: Writable
  readonly #release: () => Promise<void>

  constructor(
    transport: 'stdio' | 'tcp',
    streams: { readonly input: Readable; readonly output: Writable },
    release: () => Promise<void>,
    trace: Trace,
  ) {
    super(trace)
    this.transport = transport
    this.name = `${transport} ${++count}`
    this.#output = streams.output
    this.#release = release
    const decoder = new StringDecoder('utf8')
    streams.input.on('data', (chunk: Uint8Array) => this.#read(decoder.write(Buffer.from(chunk))))
    streams.input.on('end', () => this.end('the peer ended its output'))
    streams.input.on('close', () => this.end('the peer closed the connection'))
    streams.input.on('error', (error: Error) => this.end(error.message))
    streams.output.on('error', (error: Error) => this.end(error.message))
  }

  #read(text: string): void {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) this.take(line, this.name)
    if (this.rest.length > MOST_BYTES) {
      this.end('the peer sent a line without end')
      void this.close()
    }
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

/** A program that was started for a wire. */
export interface StartedProgram {
  readonly wire: LineWire
  readonly process: ServerProcess
  /** The end of what it wrote to stderr. */
  stderr(): string
}

/** Starts a program, and speaks to it over its standard input and output. Throws if it cannot be started. */
export async function startProgram(command: Command, trace: Trace): Promise<StartedProgram> {
  const process = await startProcess(toLaunch(command), 'pipe')
  let stderr = ''
  process.stderr?.on('data', (chunk: Uint8Array) => {
    stderr = (stderr + Buffer.from(chunk).toString('utf8')).slice(-4_000)
  })
  const wire = new LineWire(
    'stdio',
    { input: process.stdout, output: process.stdin },
    () => process.stop(GRACE_MS),
    trace,
  )
  return { wire, process, stderr: () => stderr }
}

/** Connects to a server on a socket: `tcp:`, `tls:` or `unix:`. Throws if it cannot be reached. */
export async function connectSocket(url: URL, trace: Trace, ms: number): Promise<LineWire> {
  const socket = await openSocket(url, {}, ms)(AbortSignal.timeout(ms))
  return new LineWire(
    'tcp',
    { input: socket, output: socket },
    async () => {
      socket.destroy()
    },
    trace,
  )
}
