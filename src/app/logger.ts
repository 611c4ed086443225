import type { Kind } from '../base/kinds.ts'
import { escaped } from '../errors/printable.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** A function that receives messages for the operator. */
export type LogFunction = (level: 'warning' | 'error', message: string, facts?: JsonObject) => void

/** A logger of any library, such as `console`, pino or winston, as far as it is used. */
export interface Logger {
  /** Receives warnings, such as a rejected host or an odd result of a tool. */
  readonly warn: (...args: never[]) => unknown
  /** Receives errors, such as those that handlers throw by mistake. */
  readonly error: (...args: never[]) => unknown
}

export const LOG: Kind<LogFunction | Logger> = {
  must: 'a function: (level, message, facts) => …, or a logger with the functions warn and error, such as console or pino',
  is: (value) => typeof value === 'function' || isLogger(value),
}

function isLogger(value: unknown): boolean {
  const { warn, error } = (value ?? {}) as Partial<Logger>
  return typeof warn === 'function' && typeof error === 'function'
}

/** Passes messages to a logger. Only pino and its relatives have `bindings`, and want the facts first. */
export function logTo(logger: Logger): LogFunction {
  const factsFirst = typeof (logger as { readonly bindings?: unknown }).bindings === 'function'
  return (level, message, facts) => {
    const log = logger as unknown as Readonly<Record<'warn' | 'error', (...args: unknown[]) => void>>
    const method = level === 'warning' ? 'warn' : 'error'
    if (factsFirst) return log[method](facts ?? {}, message)
    // Many loggers use the first argument as a format, and a message may contain text from a client.
    return log[method](escaped(message, /%/g), ...(facts === undefined ? [] : [facts]))
  }
}

/** Whether a pino logger writes to stdout. It does so without the stream of the process, so nothing can be held back. */
export function takesStdout(log: unknown): boolean {
  for (let at = log; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at) as unknown)
    for (const key of Object.getOwnPropertySymbols(at))
      if (key.description === 'pino.stream')
        return (at as Readonly<Record<symbol, { readonly fd?: unknown } | undefined>>)[key]?.fd === 1
  return false
}
