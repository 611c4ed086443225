import { isUtf8 } from 'node:buffer'
import type { Readable, Writable } from 'node:stream'
import { mcpError } from '../../protocol/errors.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { Service } from '../../rpc/service.ts'
import { createLineReader } from '../../wire/lines.ts'
import { askedId } from '../asked-id.ts'
import { Connection } from '../connection.ts'
import { afterMs, everyMs, type Timer } from '../timer.ts'
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
/** Whoever closes our input is about to end us. */
const FAREWELL_MS = 3000
const FLUSH_MS = 1000

/** Serves one client over standard input and output, one message a line. */
export function serveStdio(service: Service, options: StdioOptions): StdioServer {
  const { limits, input = process.stdin } = options
  const write = options.output === undefined ? guardStdout() : writerOf(options.output)
  const output = options.output ?? process.stdout
  const isBehind = (): boolean => output.writableLength > limits.streamBytes
  const connection = new Connection({ service, limits, origin: {}, send, isBehind })
  /** The lines of one chunk, or what to do about those that cannot be read. */
  const inbox: (string | (() => void))[] = []
  const lines = createLineReader({
    maxBytes: limits.stdioBytes,
    decode,
    onLine: (text) => inbox.push(text),
    onOversize,
    onBadEncoding: () => inbox.push(() => connection.refuse(mcpError('parse_failed', {}))),
  })
  let batch = ''
  let broken = false
  let closing: Promise<void> | undefined
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  const watch = options.input === undefined ? watchParent(onEnd) : undefined

  input.on('data', onData)
  input.once('end', onEnd)
  input.once('error', onEnd)
  output.on('error', onBroken)
  return { closed, close: () => close(limits.drainMs) }

  function onData(chunk: Uint8Array): void {
    lines.push(chunk)
    takeAll()
    flush()
  }

  function takeAll(): void {
    for (const line of inbox.splice(0)) {
      if (typeof line === 'string') connection.receive(line)
      else line()
    }
  }

  function onOversize(head: Uint8Array): void {
    const id = askedId(toText(head.subarray(0, 512)))
    inbox.push(() => connection.refuse(mcpError('too_large', { limit: limits.stdioBytes }), id))
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
    if (broken || write(text) || input.isPaused()) return
    input.pause()
    output.once('drain', () => input.resume())
  }

  function onEnd(): void {
    lines.end()
    takeAll()
    connection.deafen()
    void close(Math.min(limits.drainMs, FAREWELL_MS))
  }

  function onBroken(): void {
    broken = true
    connection.close()
    void close(0)
  }

  function close(drainMs: number): Promise<void> {
    return (closing ??= stop(drainMs))
  }

  async function stop(drainMs: number): Promise<void> {
    clearInterval(watch)
    await within(drainMs, (drained) => void connection.drained().then(drained))
    input.off('data', onData)
    input.pause()
    connection.close()
    flush()
    if (!broken) await within(FLUSH_MS, (flushed) => void write('', flushed))
    if (options.output === undefined) unguardStdout()
    finish()
  }
}

function decode(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? toText(bytes) : undefined
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function writerOf(output: Writable): (text: string, written?: () => void) => boolean {
  return (text, written) => output.write(text, () => written?.())
}

/** Notices that the process that started us is gone even when the pipe stays open. */
function watchParent(gone: () => void): Timer {
  const parent = process.ppid
  return everyMs(PARENT_CHECK_MS, () => {
    if (process.ppid !== parent) gone()
  })
}

/** Waits for something, but no longer than a while. */
function within(ms: number, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = afterMs(ms, resolve)
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
