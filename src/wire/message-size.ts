import type { Some } from '../base/some.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { TOO_LARGE } from '../errors/wire.ts'
import { toLimits } from '../base/limits.ts'
import type { Limits } from '../protocol/limits.ts'

/** A transport whose messages have a limit. */
export type SizedTransport = 'stdio' | 'tcp' | 'unix' | 'http' | 'ws' | 'sse' | 'memory'

const BY_TRANSPORT: Readonly<Record<SizedTransport, keyof Limits>> = {
  stdio: 'stdioBytes',
  tcp: 'tcpBytes',
  unix: 'tcpBytes',
  http: 'httpBytes',
  ws: 'wsBytes',
  sse: 'sseBytes',
  memory: 'memoryBytes',
}

/**
 * Throws `too_large` if a message is larger than a server accepts on a transport: text or bytes before they are parsed, or
 * a number of bytes before they are read.
 */
export function validateMessageSize(
  transport: SizedTransport,
  message: string | Uint8Array | number,
  limits: 'strict' | Some<Limits> = {},
): void {
  const name = BY_TRANSPORT[transport] as keyof Limits | undefined
  if (name === undefined)
    throw mcpError(BAD_OPTION, { where: 'validateMessageSize', reason: unknown(transport) })
  const most = toLimits(limits)[name]
  const problem = sizeProblem(messageSize(message, transport, most), most)
  if (problem !== undefined) throw problem
}

/** The error for a message larger than the limit, or undefined. */
export function sizeProblem(bytes: number, most: number): McpError | undefined {
  return bytes > most ? mcpError(TOO_LARGE, { limit: most }) : undefined
}

/** The size of a message as far as it matters: exact where it is close to the limit, and otherwise at least on the right side. */
export function messageSize(
  message: string | Uint8Array | number,
  transport: SizedTransport,
  most: number,
): number {
  if (typeof message === 'number') return message
  // In memory, characters count. Elsewhere a character is one to three bytes per code unit, so only close cases need encoding.
  const { length } = message
  if (typeof message !== 'string' || transport === 'memory' || length > most || length * 3 <= most)
    return length
  return new TextEncoder().encode(message).length
}

function unknown(transport: string): string {
  return `"${transport}" is not one of ${Object.keys(BY_TRANSPORT).join(', ')}`
}
