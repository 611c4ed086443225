import type { ListenOptions } from '../options.ts'
import type { Running } from './listen.ts'

/**
 * A program that starts other people's servers, such as our command. It learns which server listens, and may choose its transports. It is
 * found under a global symbol, because the server may use another copy of this package.
 */
export interface Launcher {
  /** Returns the options to use when a server listens. */
  listen(app: object, options: ListenOptions): ListenOptions
  /** Is called when a server has opened its transports. */
  listening?(app: object, running: Running): void
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
