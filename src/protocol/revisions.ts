/** The published revisions of the protocol, oldest first. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** A protocol version, always named by its date. */
export type Revision = (typeof REVISIONS)[number]

/** The newest revision. All messages have its form inside this package. */
export const LATEST: Revision = '2026-07-28'

export function isRevision(value: unknown): value is Revision {
  return REVISIONS.includes(value as Revision)
}
