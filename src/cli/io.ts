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
  write(text: string, done?: (error?: Error | null) => void): boolean
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
  // A reader such as `head` that has seen enough is not an error.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
      throw error
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
