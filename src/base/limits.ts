import type { Some } from './some.ts'
import { CLIENT_LIMITS, type LimitRow } from '../protocol/client-limits.ts'
import { LIMITS, type Limits } from '../protocol/limits.ts'
import { badOption, checkNames } from './options.ts'

/** The limits that an option selects: `'strict'`, or changes to single limits. */
export function toLimits(option: 'strict' | Some<Limits> = {}): Limits {
  return readLimits({ ...CLIENT_LIMITS, ...LIMITS }, option)
}

/** The values of one table of limits that an option selects: `'strict'`, or changes to single limits. */
export function readLimits<Name extends string>(
  table: Readonly<Record<Name, LimitRow>>,
  option: 'strict' | Some<Record<Name, number>> = {},
): Readonly<Record<Name, number>> {
  const column = option === 'strict' ? 'strict' : 'usual'
  const rows = Object.entries<LimitRow>(table)
  const base = Object.fromEntries(rows.map(([name, row]) => [name, row[column]])) as Record<Name, number>
  if (option === 'strict') return base
  if (typeof option !== 'object') throw badOption('limits', `use 'strict' or an object`)
  checkNames('limits', option, Object.keys(table))
  for (const [name, value] of Object.entries<number | undefined>(option)) {
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value > 0 || value === table[name as Name].least))
      throw badOption(`limits.${name}`, 'it must be a positive number')
    base[name as Name] = value
  }
  return base
}
