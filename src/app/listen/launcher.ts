import type { ListenOptions } from '../options.ts'

/**
 * A program that starts other people's servers, such as our command. It learns which server listens, and may choose its transports. It is
 * found under a global symbol, because the server may use another copy of this package.
 */
export interface Launcher {
  /** Returns the options to use when a server listens. */
  listen(app: object, options: ListenOptions): ListenOptions
}

export const LAUNCHER: unique symbol = Symbol.for('pierhead.launcher')

/** The options of `listen`, or those that the launcher of this process prefers. */
export function launched(app: object, options: ListenOptions): ListenOptions {
  const { [LAUNCHER]: launcher } = globalThis as { [LAUNCHER]?: Launcher | undefined }
  return launcher === undefined ? options : launcher.listen(app, options)
}
