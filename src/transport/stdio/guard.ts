import { onWorkers } from '../../base/runtime.ts'

/** The parts of the standard streams that the guard needs; absent outside Node. */
interface Streams {
  readonly stdin: { readonly isTTY?: boolean }
  readonly stdout: { write: (...args: never[]) => boolean; readonly isTTY?: boolean }
  readonly stderr: {
    write(text: string | Uint8Array): boolean
    on(event: 'error', listener: () => void): unknown
  }
  once(event: 'exit', listener: () => void): unknown
}

type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean

const WARNING =
  'pierhead: something wrote to stdout, which is reserved for protocol messages; the output was moved to stderr. ' +
  'Use console.error, or ctx.log to reach the client.\n'
const RELEASED =
  'pierhead: output was written to stdout before stdio opened, so the client may fail to read the first message. ' +
  'Output is held back only for a short time after createServer: call listen() soon, and do what takes long in onStart.\n'
const UNDECIDED_MS = 2000
const MAX_HELD = 64 * 1024

/** Workers may have standard streams that lead nowhere, and allow no timers before a request. */
const streams = onWorkers ? undefined : (globalThis as { process?: Streams }).process
let state: 'off' | 'holding' | 'guarding' = 'off'
/** How many callers of `guardStdout` and `keepGuard` need stdout. */
let guards = 0
/** Whether held output was written to stdout. */
let hasReleased = false
let real: Write | undefined
let uninstall: () => void = () => undefined
let held: (string | Uint8Array)[] = []
let heldSize = 0
let warned = false
/** Whether stderr has a listener that ignores its errors. */
let ignoresErrors = false
let leaving = false
let undecided: ReturnType<typeof setTimeout> | undefined

/**
 * Holds back output to stdout until it is known whether stdout carries the protocol. Does nothing when stdin or stdout
 * is a terminal.
 */
export function holdStdout(): void {
  if (
    streams === undefined ||
    state !== 'off' ||
    streams.stdin.isTTY === true ||
    streams.stdout.isTTY === true
  )
    return
  install('holding')
  if (!leaving) streams.once('exit', releaseStdout)
  leaving = true
  clearTimeout(undecided)
  undecided = setTimeout(releaseStdout, UNDECIDED_MS)
  ;(undecided as { unref?(): void }).unref?.()
}

/** Restores stdout and writes what was held, because stdout does not carry the protocol. */
export function releaseStdout(): void {
  if (streams === undefined || state !== 'holding') return
  uninstall()
  const chunks = takeHeld()
  if (chunks.length > 0) hasReleased = true
  for (const chunk of chunks) (streams.stdout.write as Write)(chunk)
}

/**
 * Reserves stdout for the protocol and sends other output to stderr, until `unguardStdout` was called as often as this.
 * Returns a function that writes a message.
 */
export function guardStdout(): (text: string, written?: () => void) => boolean {
  if (streams === undefined) throw new Error('stdio needs a runtime with standard streams')
  if (state === 'off') install('guarding')
  state = 'guarding'
  guards++
  if (hasReleased) warn(RELEASED)
  hasReleased = false
  for (const chunk of takeHeld()) divert(chunk)
  const write = real as Write
  return (text, written) => write(text, written)
}

/** Restores stdout unless others still need it; for tests and for servers that stop before the process does. */
export function unguardStdout(): void {
  if (guards > 0 && --guards === 0) uninstall()
}

/** Keeps stdout guarded, if it is, until the function that this returns is called. */
export function keepGuard(): () => void {
  if (guards === 0) return () => undefined
  guards++
  return unguardStdout
}

function install(next: 'holding' | 'guarding'): void {
  const { stdout } = streams as Streams
  const before = Object.getOwnPropertyDescriptor(stdout, 'write')
  const write = (stdout.write as Write).bind(stdout)
  real = write
  state = next
  const guarded: Write = (chunk, ...rest) => {
    if (state === 'off') return write(chunk, ...rest)
    const done = rest.findLast((argument) => typeof argument === 'function') as (() => void) | undefined
    if (state === 'guarding') divert(chunk)
    else hold(chunk)
    if (done !== undefined) queueMicrotask(done)
    return true
  }
  stdout.write = guarded as Streams['stdout']['write']
  uninstall = () => {
    state = 'off'
    // Do not remove a wrapper that was installed over ours. Deleting our own exposes the stream's method again.
    if ((stdout.write as unknown) !== guarded) return
    if (before === undefined) delete (stdout as { write?: unknown }).write
    else Object.defineProperty(stdout, 'write', before)
  }
}

function hold(chunk: string | Uint8Array): void {
  held.push(chunk)
  heldSize += chunk.length
  if (heldSize > MAX_HELD) releaseStdout()
}

function takeHeld(): readonly (string | Uint8Array)[] {
  const chunks = held
  held = []
  heldSize = 0
  return chunks
}

function divert(chunk: string | Uint8Array): void {
  // Writing nothing is a way to wait until everything has left.
  if (chunk.length === 0) return
  if (!warned) warn(WARNING)
  warned = true
  ;(streams as Streams).stderr.write(chunk)
}

function warn(text: string): void {
  const { stderr } = streams as Streams
  // The reader of stderr may be gone.
  if (!ignoresErrors) stderr.on('error', () => undefined)
  ignoresErrors = true
  stderr.write(text)
}
