import type { ReadStream, WriteStream } from 'node:tty'
import type { OpenPage } from 'pierhead/auth/client'
import { EXIT, type ExitCode } from './exit.ts'

/** The outside world of a command: the terminal or pipes, the environment and the folder. Tests bring their own. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts when the user presses Ctrl-C, or when another program sends SIGTERM; its reason is an `Interruption`. */
  readonly signal: AbortSignal
  /** Shows a login page to the user. Default: the user is asked whether to open it in the browser. */
  readonly openPage?: OpenPage | undefined
}

export interface Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  /** Calls the listener when the size of the terminal has changed. */
  on?(event: 'resize', listener: () => void): unknown
  write(text: string, done?: (error?: Error | null) => void): boolean
}

/** The columns of a terminal that does not know its size, such as a serial line, and so reports 0. */
const UNKNOWN_COLUMNS = 80

/** Gives a terminal that reports no columns the usual ones. The stream itself gets them, because libraries that draw on it ask it. */
export function repairWidth(stream: Writable): void {
  const repair = (): void => {
    if (stream.columns === 0) (stream as { columns: number }).columns = UNKNOWN_COLUMNS
  }
  repair()
  if (stream.isTTY === true) stream.on?.('resize', repair)
}

/** Why a command ends early. */
export class Interruption extends Error {
  readonly exit: ExitCode

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(signal === 'SIGINT' ? 'interrupted with Ctrl-C' : 'ended by SIGTERM')
    this.exit = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated
  }
}

/** The streams of this process. The first Ctrl-C aborts `signal`, the second ends the process at once. */
export function processIo(): Io {
  const controller = new AbortController()
  let interrupts = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      const reason = new Interruption(signal)
      if (++interrupts > 1) process.exit(reason.exit)
      controller.abort(reason)
    })
  // A reader such as `head` that has seen enough gets no message, but scripts must not take this for success.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.unread)
    throw error
  })
  // Without a reader of its notes, the command still has its work to do.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return {
    stdin: process.stdin as ReadStream,
    stdout: process.stdout as WriteStream,
    stderr: process.stderr as WriteStream,
    env: process.env,
    cwd: process.cwd(),
    signal: controller.signal,
  }
}
