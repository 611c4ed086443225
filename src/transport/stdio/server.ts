import type { Readable, Writable } from 'node:stream'
import type { Limits } from '../../protocol/limits.ts'
import type { Scopes } from '../../rpc/scopes.ts'
import type { Service } from '../../rpc/service.ts'
import { LineServer } from '../lines/server.ts'
import { everyMs, within, type Timer } from '../io/timer.ts'
import { guardStdout, unguardStdout } from './guard.ts'

export interface StdioOptions {
  readonly limits: Limits
  /** The scopes of the client; by default all, since it started the server. */
  readonly scopes?: Scopes | undefined
  /** Streams to use instead of the process's own; the process is then left alone. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface StdioServer {
  /** Resolves when the client has disconnected and all requests are answered. */
  readonly closed: Promise<void>
  /** Whether a client has sent anything. */
  readonly isUsed: boolean
  close(): Promise<void>
}

const PARENT_CHECK_MS = 2000
/** Shorter than `drainMs`, because a client that closes our input is about to kill the process. */
const END_DRAIN_MS = 3000
const FLUSH_MS = 1000

/** Serves one client over standard input and output, one message per line. */
export function serveStdio(service: Service, options: StdioOptions): StdioServer {
  const { limits, input = process.stdin } = options
  const write = options.output === undefined ? guardStdout() : writerOf(options.output)
  const output = options.output ?? process.stdout
  const server = new LineServer({
    service,
    limits,
    source: { scopes: options.scopes ?? 'all' },
    maxBytes: limits.stdioBytes,
    input,
    output,
    write: (text) => broken || write(text),
  })
  const { connection } = server
  let broken = false
  let closing: Promise<void> | undefined
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  const parentTimer = options.input === undefined ? watchParent(onGone) : undefined

  input.once('end', onEnd)
  input.once('error', onEnd)
  output.on('error', onBroken)
  return {
    closed,
    get isUsed() {
      return server.count > 0
    },
    close: () => close(limits.drainMs),
  }

  function onEnd(): void {
    server.end(endSoon)
  }

  /** Nobody will read what the lines wait for that have arrived. */
  function onGone(): void {
    onEnd()
    endSoon()
  }

  function endSoon(): void {
    void close(Math.min(limits.drainMs, END_DRAIN_MS))
  }

  function onBroken(): void {
    broken = true
    server.ignore()
    connection.close()
    void close(0)
  }

  function close(drainMs: number): Promise<void> {
    return (closing ??= stop(drainMs))
  }

  async function stop(drainMs: number): Promise<void> {
    clearInterval(parentTimer)
    await connection.drain(drainMs)
    server.stop()
    connection.close()
    server.flush()
    if (!broken) await within(FLUSH_MS, (flushed) => void write('', flushed))
    if (options.output === undefined) unguardStdout()
    finish()
  }
}

function writerOf(output: Writable): (text: string, written?: () => void) => boolean {
  return (text, written) => output.write(text, () => written?.())
}

/** Detects that the parent process is gone even when the pipe stays open. */
function watchParent(gone: () => void): Timer {
  const parent = process.ppid
  return everyMs(PARENT_CHECK_MS, () => {
    if (process.ppid !== parent) gone()
  })
}
