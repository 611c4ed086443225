import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import type { Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Session } from '../rpc/session.ts'
import { LEVEL } from '../rpc/session-fields.ts'
import { isLogLevel, LOG_LEVELS, passes, type LogLevel } from '../protocol/log-levels.ts'

type Write = (message: unknown, facts?: Readonly<Record<string, unknown>>) => void

/**
 * Sends log messages to the client, at or above the level it asked for. Never put secrets into them. Each level has a
 * function: `log.info('started', { job: 7 })`.
 */
export type Log = { readonly [Level in LogLevel]: Write } & {
  /** Sends any data as one message, with the name of a logger. */
  write(level: LogLevel, data: unknown, logger?: string): void
}

/** The log of one request. */
export function createLog(call: Call): Log {
  const threshold = thresholdOf(call)
  const write = (level: LogLevel, data: unknown, logger?: string): void => {
    if (threshold === undefined || !passes(level, threshold)) return
    call.emit('notifications/message', logger === undefined ? { level, data } : { level, logger, data })
  }
  const writers = LOG_LEVELS.map((level): [LogLevel, Write] => [
    level,
    (message, facts) => write(level, facts === undefined ? message : { message, ...facts }),
  ])
  return { ...(Object.fromEntries(writers) as Record<LogLevel, Write>), write }
}

/** `logging/setLevel`: from now on the session gets messages of this level and above. */
export function setLevel(call: Call): Result {
  const level = readLevel(call, call.params['level'])
  const session = call.peer.session as Session
  session.logLevel = level
  session.keeper?.change(LEVEL, level)
  return {}
}

function thresholdOf(call: Call): LogLevel | undefined {
  if (call.peer.dialect.logLevel === 'session') return (call.peer.session?.logLevel ?? 'info') as LogLevel
  const level = (call.params['_meta'] as JsonObject | undefined)?.[META.logLevel]
  return level === undefined ? undefined : readLevel(call, level)
}

function readLevel(call: Call, level: unknown): LogLevel {
  if (isLogLevel(level)) return level
  const reason = `the log level must be one of ${LOG_LEVELS.join(', ')}`
  throw mcpError(BAD_PARAMS, { method: call.method, reason })
}
