import { Buffer, isUtf8 } from 'node:buffer'
import { McpError, mcpError } from '../../protocol/errors.ts'
import type { ClientLimits } from '../../protocol/client-limits.ts'
import type { Line, LineEvents, OpenLine } from '../../rpc/line.ts'
import { Pipe } from '../../rpc/pipe.ts'
import { createLineReader } from '../../wire/lines.ts'
import { answeredId, receiveText, refuseAnswer } from '../receive.ts'
import { failed } from './executable.ts'
import { checkCommand, toLaunch, type Command } from './launch.ts'
import { plainText } from './plain.ts'
import { startProcess, type Ending, type ServerProcess } from './process.ts'
import { createStderrReader, type StderrReader } from './stderr.ts'
import { createLineWriter } from './writer.ts'

export interface ConnectStdioOptions extends Command {
  /** What becomes of stderr: notes for the client, our own stderr, or nothing. */
  readonly stderr?: 'note' | 'inherit' | 'ignore'
  readonly limits: Pick<ClientLimits, 'clientBytes' | 'depth'>
  /** How long the server may take to end once its stdin is closed. */
  readonly closeMs?: number
}

const CLOSE_MS = 2000

/** A line to a server that is started for it, without a shell, and ended with everything that it started. */
export function connectStdio(options: ConnectStdioOptions): OpenLine {
  checkCommand(options)
  return async (events) => {
    const launch = toLaunch(options)
    const { stderr = 'note', command } = options
    const server = await startProcess(launch, stderr === 'note' ? 'pipe' : stderr).catch(
      (thrown: unknown) => {
        throw failed(command, startIssue(launch.file, thrown as NodeJS.ErrnoException), thrown)
      },
    )
    if (launch.left.length > 0)
      events.onNote?.(
        'stream',
        `${launch.left.join(', ')} was not set for the server: it makes programs load code`,
      )
    return openLine(server, events, options)
  }
}

function startIssue(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT') return message
  return `${file} needs something that does not exist, such as the interpreter in its first line`
}

function openLine(server: ServerProcess, events: LineEvents, options: ConnectStdioOptions): Line {
  const { command, limits, closeMs = CLOSE_MS } = options
  const writer = createLineWriter(server.stdin, limits.clientBytes)
  const pipe = new Pipe({ events, write: writer.write })
  const stderr = createStderrReader((text) => events.onNote?.('stderr', text))
  const hears = listen(server, pipe, events, { limits, onBroken: down })
  server.stderr?.on('data', stderr.push)
  void server.finished.then((ending) => {
    stderr.end()
    hears.end()
    down(toReason(command, ending, stderr, hears.anything()))
  })

  return {
    cancels: 'message',
    request: (outgoing) =>
      pipe.request(outgoing).catch((error: unknown) => {
        throw withJunk(error, hears)
      }),
    send: (text) => (pipe.failure === undefined ? writer.send(text) : Promise.reject(pipe.failure)),
    agree: () => undefined,
    close() {
      hears.stop()
      pipe.fail(mcpError('closed', {}))
      writer.flush()
      return server.stop(closeMs)
    },
  }

  function down(reason: McpError): void {
    if (pipe.failure !== undefined) return
    hears.stop()
    pipe.fail(reason)
    events.onDown(reason)
    void server.stop(0)
  }
}

/** A silence, with what a server wrote in place of messages when it never wrote one. */
function withJunk(error: unknown, { anything, junk }: Hearing): unknown {
  if (!(error instanceof McpError) || error.kind !== 'timeout' || anything() || junk() === '') return error
  return new McpError('timeout', `${error.message}; its stdout has no messages, but: ${junk()}`, {
    cause: error,
  })
}

interface Hearing {
  /** Whether a message ever came. */
  anything(): boolean
  /** The first line that was no message. */
  junk(): string
  /** Nothing more can come: a last line needs no line break. */
  end(): void
  /** From now on what comes is read, so that the server can go on, and thrown away. */
  stop(): void
}

interface ListenOptions {
  readonly limits: ConnectStdioOptions['limits']
  onBroken(reason: McpError): void
}

/** Reads the messages of a server from its stdout. */
function listen(server: ServerProcess, pipe: Pipe, events: LineEvents, options: ListenOptions): Hearing {
  const { limits, onBroken } = options
  const { stdout } = server
  const tooLarge = (): McpError =>
    mcpError('answer_too_large', { limit: limits.clientBytes, unit: 'bytes in one line' })
  let heard = false
  let isStopped = false
  let isOver = false
  let junk = ''
  const lines = createLineReader({
    maxBytes: limits.clientBytes,
    decode,
    onLine,
    onOversize,
    onBadEncoding,
  })
  stdout.on('data', lines.push)
  return {
    anything: () => heard,
    junk: () => junk,
    end() {
      isOver = true
      if (!isStopped) lines.end()
    },
    stop() {
      isStopped = true
      stdout.off('data', lines.push)
      stdout.resume()
    },
  }

  function onLine(text: string): void {
    // A server that dies while it writes has not answered.
    if (isOver && !isWhole(text)) return
    tell(mayBeMessage(text) && receiveText(pipe, text, limits.depth), text)
  }

  function onBadEncoding(bytes: Uint8Array): void {
    const text = toText(bytes)
    if (!isOver) tell(refuseAnswer(pipe, text, 'it is not valid UTF-8'), text)
  }

  /** Says once that a server writes what is no message. */
  function tell(known: boolean, text: string): void {
    heard ||= known
    if (known || junk !== '') return
    junk = plainText(text.slice(0, 200))
    events.onNote?.('stream', `the server writes things to stdout that are no messages, such as: ${junk}`)
  }

  /** One answer is too large for its request, when it is known which; otherwise nobody can wait any longer. */
  function onOversize(head: Uint8Array): void {
    const id = answeredId(toText(head.subarray(0, 256))) ?? pipe.only
    if (!pipe.refuse(id, tooLarge) && pipe.size > 0) onBroken(tooLarge())
  }
}

function decode(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? toText(bytes) : undefined
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function isWhole(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

function mayBeMessage(text: string): boolean {
  const first = text.trimStart().charCodeAt(0)
  return first === 0x7b || first === 0x5b
}

function toReason(command: string, ending: Ending, stderr: StderrReader, wasUp: boolean): McpError {
  const said = stderr.lastLines()
  const last = said.length === 0 ? '' : `; the end of its stderr:\n  ${said.join('\n  ')}`
  const data = { exitCode: ending.exitCode, signal: ending.signal, stderr: said }
  const { message } = failed(command, `the server ${ending.how}${last}`)
  if (!wasUp) return new McpError('connect_failed', message, { data })
  return new McpError('stream_lost', `the server ${JSON.stringify(command)} ${ending.how}${last}`, { data })
}
