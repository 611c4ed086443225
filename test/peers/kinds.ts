import type { Revision } from 'pierhead'
import type { Feature, Kind } from './peer.ts'

const SHAKEN: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** The revision from which on servers can offer something. */
const SINCE: ReadonlyMap<Feature, Revision> = new Map([
  ['hints', '2025-03-26'],
  ['structured', '2025-06-18'],
  ['elicit', '2025-06-18'],
  ['visit', '2025-11-25'],
  ['elicited', '2025-11-25'],
])

function isNewer(feature: Feature, revision: Revision): boolean {
  return revision < (SINCE.get(feature) ?? revision)
}

/** The servers that others wrote, and what each of them cannot do. */
export const KINDS: readonly Kind[] = [
  {
    name: 'official v1',
    file: 'v1.mjs',
    newest: '2025-11-25',
    revisions: SHAKEN,
    lacks: isNewer,
  },
  {
    name: 'official v2',
    file: 'v2.mjs',
    newest: '2026-07-28',
    revisions: [...SHAKEN, '2026-07-28'],
    lacks: (feature, revision) =>
      isNewer(feature, revision) || (feature === 'elicited' && revision === '2026-07-28'),
  },
  {
    name: 'tmcp',
    file: 'tmcp.mjs',
    newest: '2026-07-28',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2026-07-28'],
    lacks: (feature, revision, transport) =>
      isNewer(feature, revision) ||
      feature === 'elicited' ||
      (feature === 'roots' && revision === '2026-07-28') ||
      // Its handlers learn of a cancellation only where a connection is closed for it.
      (feature === 'cancel' && transport === 'stdio'),
  },
  {
    name: 'fastmcp',
    file: 'fastmcp.mjs',
    newest: '2025-11-25',
    revisions: SHAKEN,
    // It sends log messages of every level, whatever was asked for.
    lacks: (feature, revision) =>
      isNewer(feature, revision) || feature === 'elicited' || feature === 'levels',
  },
]
