import { mcpError } from '../errors/error.ts'
import { checkOptions } from '../base/option-names.ts'

/** A limit: its usual value and its strict value. `Infinity` turns one off. */
export interface LimitRow {
  readonly usual: number
  readonly strict: number
  /** The least value, where it may be none. */
  readonly least?: 0
}

/** The limits that clients have. */
export const CLIENT_LIMITS = {
  /** Bytes of one message, line, event or body from a server. */
  clientBytes: { usual: 16_777_216, strict: 4_194_304 },
  /** The highest id of a request, after which a client opens a new connection. */
  clientIds: { usual: 9_007_199_254_740_991, strict: 9_007_199_254_740_991 },
  /** Levels of nesting in a message. */
  depth: { usual: 128, strict: 64 },
  /** Pages of one list. */
  pages: { usual: 1000, strict: 100 },
  /** Milliseconds before a client tries again to reach a server, at first. */
  reconnectFirstMs: { usual: 1000, strict: 1000 },
  /** Milliseconds that this grows to while nothing comes of it. */
  reconnectMaxMs: { usual: 30_000, strict: 30_000 },
  /** Milliseconds between two attempts at least, whatever a server asks for. */
  reconnectFloorMs: { usual: 100, strict: 1000 },
  /** Milliseconds that a session outlives a lost WebSocket, on either side; with 0 it ends at once. */
  resumeMs: { usual: 30_000, strict: 10_000, least: 0 },
} as const
CLIENT_LIMITS satisfies Record<string, LimitRow>

export type ClientLimits = { readonly [Name in keyof typeof CLIENT_LIMITS]: number }

/** Values for the limits of a table from an option: `'strict'`, or single limits changed. */
export function readLimits<Name extends string>(
  table: Readonly<Record<Name, LimitRow>>,
  option: 'strict' | Partial<Readonly<Record<Name, number>>> = {},
): Readonly<Record<Name, number>> {
  const column = option === 'strict' ? 'strict' : 'usual'
  const rows = Object.entries<LimitRow>(table)
  const base = Object.fromEntries(rows.map(([name, row]) => [name, row[column]])) as Record<Name, number>
  if (option === 'strict') return base
  if (typeof option !== 'object')
    throw mcpError('bad_option', { where: 'limits', reason: `write 'strict', or an object` })
  checkOptions('limits', option, Object.keys(table))
  for (const [name, value] of Object.entries<number | undefined>(option)) {
    if (typeof value !== 'number' || !(value > 0 || value === table[name as Name].least))
      throw mcpError('bad_option', { where: `limits.${name}`, reason: 'it must be a positive number' })
  }
  return { ...base, ...option }
}
