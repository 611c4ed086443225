import { toMs, type Duration } from '../../base/duration.ts'
import { checkNode } from '../../base/runtime.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { CLOSED } from '../../errors/rpc.ts'
import type { ReadLimits } from '../../protocol/client-limits.ts'
import type { ClientKeys } from '../../rpc/client-keys.ts'
import type { ClientTransport, TransportEvents, OpenTransport } from '../../rpc/client-transport.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import { createMessageReader, type MessageReader } from '../lines/message-reader.ts'
import { createLineWriter } from '../lines/writer.ts'
import { failed } from './executable.ts'
import { withLateDiscovery } from './late-discovery.ts'
import { checkCommand, toLaunch, type Command } from './launch.ts'
import { startProcess, type Ending, type ServerProcess } from './process.ts'
import { createStderrReader, type StderrReader } from './stderr.ts'

export interface ConnectStdioOptions extends Command {
  /** Where the server's stderr goes: to the client as notes, to our own stderr, or nowhere. */
  readonly stderr?: 'note' | 'inherit' | 'ignore'
  readonly limits: ReadLimits
  /** How long the server may take to exit once its stdin is closed. */
  readonly closeMs?: number
}

/** The keys of the client, and how long proving them may take. */
export interface StdioKeyOptions {
  /** The keys of both sides, if the server asks for them. */
  readonly keys?: ClientKeys | undefined
  /** How long each step of connecting may take. */
  readonly timeout?: Duration | undefined
  /** How long to wait for the answer to a request that the server may not know. */
  readonly probe?: Duration | undefined
}

const CLOSE_MS = 2000
const TOLD_END = 'Correct what the program says in the message, then connect again.'
const SILENT_END =
  'Run the command in a terminal to see why it ends: an MCP server on stdio runs until its stdin is closed.'

/** Starts a server without a shell and connects to it. Closing ends the server and everything it started. */
export function connectStdio(
  options: ConnectStdioOptions,
  { keys, timeout, probe }: StdioKeyOptions = {},
): OpenTransport {
  checkNode('connect')
  checkCommand(options)
  return async (events) => {
    const prove = keys && (await readKeys(options.command, { keys, timeout, probe }))
    const launch = toLaunch(options)
    const { stderr = 'note', command } = options
    const server = await startProcess(launch, stderr === 'note' ? 'pipe' : stderr).catch(
      (thrown: NodeJS.ErrnoException) => {
        throw failed(command, startIssue(launch.file, thrown), thrown)
      },
    )
    if (launch.left.length > 0)
      events.onNote?.(
        'stream',
        `${launch.left.join(', ')} was not set for the server because it makes programs load code`,
      )
    const transport = openTransport(server, events, options)
    await prove?.(transport, events.signal).catch(async (error: unknown) => {
      await transport.close()
      throw error
    })
    return transport
  }
}

/** Returns a function that proves our key before anything else. The code for this is loaded only if it is used. */
async function readKeys(
  target: string,
  { keys, timeout = '60s', probe = '3s' }: StdioKeyOptions & { readonly keys: ClientKeys },
): Promise<(transport: ClientTransport, signal: AbortSignal | undefined) => Promise<void>> {
  const { checkKeys, prove } = await import('./prove.ts')
  checkKeys(keys)
  const timeoutMs = toMs(timeout, 'connect timeout')
  const probeMs = Math.min(timeoutMs, toMs(probe, 'connect probe'))
  return (transport, signal) => prove(transport, { keys, target, timeoutMs, probeMs, signal })
}

function startIssue(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT') return message
  return `${file} needs a file that does not exist, such as the interpreter named in its first line`
}

function openTransport(
  server: ServerProcess,
  events: TransportEvents,
  options: ConnectStdioOptions,
): ClientTransport {
  const { command, limits, closeMs = CLOSE_MS } = options
  const writer = createLineWriter(server.stdin, limits.clientBytes)
  const messages = new MessageStream({ events, write: writer.write })
  const request = withLateDiscovery(messages)
  const stderr = createStderrReader((text) => events.onNote?.('stderr', text))
  const reader = createMessageReader(server.stdout, messages, {
    events,
    limits,
    onBroken: down,
    where: 'to stdout',
  })
  server.stderr?.on('data', stderr.push)
  void server.finished.then((ending) => {
    stderr.end()
    reader.end()
    down(toReason(command, ending, stderr, reader.anything()))
  })

  return {
    cancels: 'message',
    request: (outgoing) =>
      request(outgoing).catch((error: unknown) => {
        throw withJunk(error, reader)
      }),
    async send(text) {
      messages.sentOther()
      await writer.send(text)
    },
    agree: () => undefined,
    close() {
      reader.stop()
      messages.fail(mcpError(CLOSED, {}))
      writer.flush()
      return server.stop(closeMs)
    },
  }

  function down(reason: McpError): void {
    if (messages.failure !== undefined) return
    reader.stop()
    messages.fail(reason)
    events.onDown(reason)
    void server.stop(0)
  }
}

/** Adds to a timeout what the server wrote to stdout, if it never wrote a message. */
function withJunk(error: unknown, { anything, junk }: MessageReader): unknown {
  if (!(error instanceof McpError) || error.kind !== 'timeout' || anything()) return error
  if (junk() === '') {
    const silence = 'the program is running, but has written nothing to stdout; is it an MCP server on stdio?'
    return new McpError('timeout', `${error.message}; ${silence}`, { cause: error })
  }
  const problem = `${error.message}; its stdout contains no messages, only: ${junk()}`
  const remedy = 'a server must write everything else to stderr, for example with console.error'
  return new McpError('timeout', `${problem}; ${remedy}`, { cause: error })
}

/** A remedy for an error of Node whose own message offers none. */
function remedyFor(lines: readonly string[]): string {
  if (!lines.some((line) => line.includes('ERR_UNKNOWN_FILE_EXTENSION'))) return ''
  return "\nThis Node does not run TypeScript: install esbuild, and start the server with { command: 'node', args: ['--import', 'pierhead/typescript', 'server.ts'] }"
}

function toReason(command: string, ending: Ending, stderr: StderrReader, wasUp: boolean): McpError {
  const lines = stderr.lastLines()
  const last =
    lines.length === 0 ? '' : `; the end of its stderr:\n  ${lines.join('\n  ')}${remedyFor(lines)}`
  const data = { exitCode: ending.exitCode, signal: ending.signal, stderr: lines }
  if (!wasUp) {
    const { message } = failed(command, `the server ${ending.how}`)
    const hint = lines.length === 0 ? SILENT_END : TOLD_END
    // A program that ends by itself does so again; a signal may come from outside.
    return new McpError('connect_failed', `${message}${last}`, {
      data,
      hint,
      retryable: ending.signal !== null,
    })
  }
  return new McpError('stream_lost', `the server ${JSON.stringify(command)} ${ending.how}${last}`, { data })
}
