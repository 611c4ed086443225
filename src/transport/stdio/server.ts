import type { Readable, Writable } from 'node:stream'
import type { GateHost } from '../../keys/gate.ts'
import type { AllowedKeys } from '../../keys/options.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Auth } from '../../rpc/call.ts'
import type { Scopes } from '../../rpc/scopes.ts'
import type { Service } from '../../rpc/service.ts'
import { throttle } from '../../base/throttle.ts'
import type { McpError } from '../../errors/error.ts'
import { LineServer } from '../lines/server.ts'
import { afterMs, everyMs, within, type Timer } from '../io/timer.ts'
import { guardHeap } from '../io/heap-guard.ts'
import { guardStdout, unguardStdout } from './guard.ts'

export interface StdioOptions {
  readonly limits: Limits
  /** The scopes of the client; by default all, since it started the server. */
  readonly scopes?: Scopes | undefined
  /** The keys that clients must prove first. */
  readonly keys?: AllowedKeys | undefined
  /** Streams to use instead of the process's own; the process is then left alone. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface StdioServer {
  /** Resolves when all requests are answered: with `left` if the client has disconnected or was rejected, with nothing after `close`. */
  readonly closed: Promise<Ended>
  /** Whether a client has sent anything. */
  readonly isUsed: boolean
  close(): Promise<void>
}

/** Why no client is served any more, unless the program closed its server. */
type Ended = 'left' | undefined

const PARENT_CHECK_MS = 2000
/** Shorter than `drainMs`, because a client that closes our input is about to kill the process. */
const END_DRAIN_MS = 3000
const FLUSH_MS = 1000

/** Serves one client over standard input and output, one message per line. */
export function serveStdio(service: Service, options: StdioOptions): StdioServer {
  const { limits, input = process.stdin } = options
  const write = options.output === undefined ? guardStdout() : writerOf(options.output)
  const output = options.output ?? process.stdout
  const gate = options.keys?.open(gateHost(service, limits, () => server, onAdmitted))
  const server = new LineServer({
    service,
    limits,
    gate,
    source: gate === undefined ? { scopes: options.scopes ?? 'all', isParent: true } : {},
    maxBytes: limits.stdioBytes,
    input,
    output,
    write: (text) => broken || write(text),
  })
  const { connection } = server
  // The one client is not given up, but its requests are rejected.
  const unguard = guardHeap(service, limits, () => 0)
  let broken = false
  let closing: Promise<void> | undefined
  let finish: (ended: Ended) => void = () => undefined
  let release: () => void = () => undefined
  const closed = new Promise<Ended>((resolve) => (finish = resolve))
  const gateTimer = gate === undefined ? undefined : afterMs(limits.headersMs, onLate)
  const parentTimer = options.input === undefined ? watchParent(onGone) : undefined

  input.once('end', onEnd)
  input.once('error', onEnd)
  output.on('error', onBroken)
  return {
    closed,
    get isUsed() {
      return server.count > 0 && gate?.isOpen !== false
    },
    close: () => close(limits.drainMs),
  }

  function onAdmitted(auth: Auth): void {
    clearTimeout(gateTimer)
    release = service.leases.hold(auth, () => void close(0, 'left'))
  }

  function onLate(): void {
    const text = `no client proved its key within ${limits.headersMs} ms, so stdio is closed`
    service.report('warning', text)
    void close(0, 'left')
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
    void close(Math.min(limits.drainMs, END_DRAIN_MS), 'left')
  }

  function onBroken(): void {
    broken = true
    server.ignore()
    connection.close()
    void close(0, 'left')
  }

  function close(drainMs: number, ended?: Ended): Promise<void> {
    return (closing ??= stop(drainMs, ended))
  }

  async function stop(drainMs: number, ended: Ended): Promise<void> {
    clearInterval(parentTimer)
    clearTimeout(gateTimer)
    unguard()
    release()
    await connection.drain(drainMs)
    server.stop()
    connection.close()
    server.flush()
    if (!broken) await within(FLUSH_MS, (flushed) => void write('', flushed))
    if (options.output === undefined) unguardStdout()
    finish(ended)
  }
}

/** Connects a gate to the server behind it, which is created later. */
function gateHost(
  service: Service,
  limits: Limits,
  behind: () => LineServer,
  admitted: (auth: Auth) => void,
): GateHost {
  const report = throttle((error: McpError, more) =>
    service.report('warning', 'a client was rejected', { why: error.message, more }),
  )
  return {
    limits,
    send: (text) => behind().send(text),
    reject(error, id) {
      report(error as McpError)
      behind().connection.reject(error, id)
    },
    isRevoked: (auth) => service.leases.isRevoked(auth, undefined),
    admit(auth) {
      behind().connection.source = { auth }
      admitted(auth)
    },
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
