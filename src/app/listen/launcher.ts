import type { ListenOptions } from '../options.ts'
import type { Running } from './listen.ts'

/**
 * A program that starts other people's servers, such as our command. It learns which server listens, and may choose its transports. It is
 * found under a global symbol, because the server may use another copy of this package.
 */
export interface Launcher {
  /** Is called by `listen` of a server before it returns, with what it returns, so that a program need not await it. */
  opening?(app: object, running: Promise<Running>): void
  /** Returns the options to use when a server listens. It gets those of the program, or of the option `transports`. */
  listen(app: object, options: ListenOptions): ListenOptions
  /** Makes the server listen in one worker, which `restart` replaces. Default: it listens as its options say. */
  readonly worker?: LaunchedWorker | undefined
}

export interface LaunchedWorker {
  /** How long it has to listen. */
  readonly startMs: number
}

/** The launcher of this process; undefined for a program that was started as usual. */
export function launcher(): Launcher | undefined {
  return (globalThis as { [LAUNCHER]?: Launcher | undefined })[LAUNCHER]
}

const LAUNCHER: unique symbol = Symbol.for('pierhead.launcher')
