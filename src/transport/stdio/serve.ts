import { isUtf8 } from 'node:buffer'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { mcpError } from '../../protocol/errors.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Service } from '../../rpc/service.ts'
import { createLineReader } from '../../wire/lines.ts'
import { Connection } from '../connection.ts'
import { guardStdout, unguardStdout } from './guard.ts'

export interface StdioOptions {
  readonly limits: Limits
  /** Other streams than the process's own; then the process is left alone. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface StdioServer {
  /** Resolves when the client is gone and everything was answered. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

const PARENT_CHECK_MS = 2000

/** Serves one client over standard input and output, one message a line. */
export function serveStdio(service: Service, options: StdioOptions): StdioServer {
  const { limits, input = process.stdin } = options
  const write = options.output === undefined ? guardStdout() : writerOf(options.output)
  const output = options.output ?? process.stdout
  const connection = new Connection({ service, limits, origin: {}, send })
  const lines = createLineReader({
    maxBytes: limits.stdioBytes,
    decode,
    onLine: (text) => connection.receive(text),
    onOversize: () => connection.refuse(mcpError('too_large', { limit: limits.stdioBytes })),
    onBadEncoding: () => connection.refuse(mcpError('parse_failed', {})),
  })
  let batch = ''
  let closing: Promise<void> | undefined
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  const watch = options.input === undefined ? watchParent(() => void close()) : undefined

  input.on('data', onData)
  input.once('end', onEnd)
  input.once('error', onEnd)
  output.once('error', onBroken)
  return { closed, close }

  function onData(chunk: Uint8Array): void {
    lines.push(chunk)
    flush()
  }

  /** Messages that one chunk of input brings about leave together. */
  function send(text: string): void {
    if (batch === '') queueMicrotask(flush)
    batch += `${text}\n`
    if (batch.length > 65_536) flush()
  }

  function flush(): void {
    if (batch === '') return
    const text = batch
    batch = ''
    if (write(text) || input.isPaused()) return
    input.pause()
    output.once('drain', () => input.resume())
  }

  function onEnd(): void {
    lines.end()
    void close()
  }

  function onBroken(): void {
    connection.close()
    void close()
  }

  function close(): Promise<void> {
    return (closing ??= stop())
  }

  async function stop(): Promise<void> {
    if (watch !== undefined) clearInterval(watch)
    input.off('data', onData)
    input.pause()
    await Promise.race([connection.drained(), late(limits.drainMs)])
    connection.close()
    flush()
    await new Promise<void>((resolve) => (output.writable ? write('', resolve) : resolve()))
    if (options.output === undefined) unguardStdout()
    finish()
  }
}

function decode(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function writerOf(output: Writable): (text: string, written?: () => void) => boolean {
  return (text, written) => output.write(text, () => written?.())
}

/** Notices that the process that started us is gone even when the pipe stays open. */
function watchParent(gone: () => void): ReturnType<typeof setInterval> {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone()
  }, PARENT_CHECK_MS)
  return timer.unref()
}

function late(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
