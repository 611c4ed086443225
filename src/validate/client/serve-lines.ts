import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { member, parsed } from '../message.ts'
import { bridge } from './bridge.ts'
import { react, type Behaviour, type Connection } from './scenario.ts'
import type { Served } from './serve.ts'
import { NOT_HTTP, type Channel } from './turn.ts'
import type { Visit } from './visit.ts'

interface Stage {
  readonly visit: Visit
  readonly behaviour: Behaviour
}

/** The longest line that is read. */
const MOST_CHARS = 8_000_000
/** How many bytes a character of base64 stands for. */
const BASE64 = 0.75
/** How long a server program takes to end after its input has ended. */
const END_MS = 20
/** How long it takes to end after a signal. */
const SIGNAL_MS = 60

/** Serves lines over TCP, on a free port of this machine. */
export async function serveTcp(stage: Stage): Promise<Served> {
  const listening = await listen({ host: '127.0.0.1', port: 0 }, (socket) => {
    const lines = new ServedLines(stage, {
      write: (text) => write(socket, text),
      stderr: () => undefined,
      close: () => socket.destroy(),
    })
    const decoder = new StringDecoder('utf8')
    socket.on('data', (chunk) => {
      if (stage.visit.receive(chunk.length)) lines.read(decoder.write(chunk))
      else socket.destroy()
    })
    socket.on('end', () => lines.end())
    socket.on('close', () => lines.close())
  })
  const { port } = listening.server.address() as AddressInfo
  return {
    address: { transport: 'tcp', url: `tcp://127.0.0.1:${port}` },
    close: () => listening.close(),
  }
}

/** Serves stdio: the address is a command, whose program passes everything on over a socket. */
export async function serveStdio(stage: Stage): Promise<Served> {
  const { command, path } = await bridge()
  const listening = await listen({ path }, (socket) => {
    const say = (message: object): Promise<void> => write(socket, `${JSON.stringify(message)}\n`)
    const lines = new ServedLines(stage, {
      write: (text) => say({ out: text }),
      stderr: (text) => void say({ err: text }),
      close: () => void say({ exit: 1 }),
    })
    const decoder = new StringDecoder('utf8')
    const frames = splitter((frame) => {
      const message = parsed(frame)
      const input = member(message, 'in')
      if (typeof input === 'string') lines.read(decoder.write(Buffer.from(input, 'base64')))
      const happened = member(message, 'event')
      if (happened === 'end') {
        lines.end()
        setTimeout(() => void say({ exit: 0 }), END_MS)
      } else if (happened === 'SIGTERM' || happened === 'SIGINT') {
        lines.signalled(happened)
        // Clients may close stdin at the same time, and the signal may overtake that.
        setTimeout(() => void say({ exit: 143 }), SIGNAL_MS)
      }
    })
    socket.on('data', (chunk) => {
      if (stage.visit.receive(chunk.length * BASE64)) frames.push(chunk.toString('latin1'))
      else socket.destroy()
    })
    socket.on('close', () => lines.close())
  })
  return { address: { transport: 'stdio', command }, close: () => listening.close() }
}

async function listen(
  where: { readonly path: string } | { readonly host: string; readonly port: number },
  onSocket: (socket: Socket) => void,
): Promise<{ readonly server: Server; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  server.listen(where)
  await once(server, 'listening')
  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => {
    // A client that does not read must not hold us up for ever.
    const timer = setTimeout(resolve, 2_000)
    socket.write(text, () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Splits text into lines. */
function splitter(onLine: (line: string) => void): { push(text: string): void; rest(): string } {
  let rest = ''
  return {
    push(text) {
      const [first = '', ...lines] = text.split('\n')
      if (rest.length < MOST_CHARS) rest += first
      for (const next of lines) {
        onLine(rest)
        rest = next
      }
    },
    rest: () => rest,
  }
}

interface Writer {
  write(text: string): Promise<void>
  stderr(text: string): void
  close(): void
}

let count = 0

/** One connection that exchanges lines. */
class ServedLines {
  readonly #visit: Visit
  readonly #stream: string
  readonly #split: ReturnType<typeof splitter>

  constructor(stage: Stage, writer: Writer) {
    const { visit, behaviour } = stage
    this.#visit = visit
    const stream = `${visit.transport} ${++count}`
    this.#stream = stream
    const raw = (text: string): Promise<void> => {
      visit.give(text.trim(), stream)
      return writer.write(text)
    }
    const send = (text: string): Promise<void> => raw(behaviour.line?.(text) ?? `${text}\n`)
    const channel: Channel = { stream, send, finish: send, ...NOT_HTTP }
    this.#split = splitter((line) => {
      const seen = visit.take(line, stream)
      if (seen !== undefined) void react(seen, channel, stage)
    })
    visit.note('open', stream)
    const connection: Connection = {
      stream,
      raw,
      stderr(text) {
        visit.give(`(stderr) ${text}`, stream)
        writer.stderr(text)
      },
      close: () => writer.close(),
    }
    behaviour.opened?.(connection, visit)
  }

  read(text: string): void {
    this.#split.push(text)
  }

  /** The client has ended its output. */
  end(): void {
    this.#visit.rest += this.#split.rest()
    this.#visit.note('end', this.#stream)
  }

  /** The program that the client started got a signal. */
  signalled(signal: 'SIGTERM' | 'SIGINT'): void {
    this.#visit.note(signal, this.#stream)
  }

  close(): void {
    this.#visit.note('closed', this.#stream)
  }
}
