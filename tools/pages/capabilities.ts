import {
  CLIENT_CAPABILITIES,
  SERVER_CAPABILITIES,
  type CapabilityFlag,
  type CapabilityRow,
} from '../../src/protocol/capabilities.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { code, isAt, marks, page, table } from './markdown.ts'

/** The capabilities of both sides. */
export const ALL_CAPABILITIES: Readonly<Record<string, CapabilityRow>> = {
  ...CLIENT_CAPABILITIES,
  ...SERVER_CAPABILITIES,
}

/** The page about capabilities. */
export function capabilitiesPage(): string {
  return page(
    'Capabilities',
    'The capabilities that each side may declare, and the revisions that have them (●). The presence of the object is the declaration; its members add to it. Unknown members are tolerated. Up to 2025-11-25, both sides declare once, in `initialize`; at 2026-07-28, a client declares with every request and a server in `server/discover`.',
    '## Declared by a client',
    capabilityTable('client'),
    '## Declared by a server',
    capabilityTable('server'),
    '## Declared by either side',
    capabilityTable('both'),
  )
}

function capabilityTable(side: CapabilityRow['side']): string {
  const rows = Object.entries(ALL_CAPABILITIES).filter(([, row]) => row.side === side)
  return table(
    ['Capability', ...REVISIONS, 'Meaning'],
    rows.flatMap(([name, row]) => [
      line(name, row, deprecation(row)),
      ...Object.entries(row.flags ?? {}).map(([flag, about]) => line(`${name}.${flag}`, about, '')),
    ]),
  )
}

function line(name: string, row: CapabilityFlag, remark: string): readonly string[] {
  return [code(name), ...marks((revision) => isAt(row, revision)), `${row.about}${remark}`]
}

function deprecation({ deprecated }: CapabilityRow): string {
  return deprecated === undefined ? '' : ` Deprecated from ${deprecated} on.`
}
