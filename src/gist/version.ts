import { REVISIONS, type Revision } from '../protocol/revisions.ts'

/** How the distance of two versions is measured: in revisions, or in calendar months. */
export type Cycle = 'revision' | 'month'

export const CYCLES: readonly Cycle[] = ['revision', 'month']

/** Whether a text names a version: a month, or a date. */
export function isVersion(text: unknown): text is string {
  return typeof text === 'string' && /^\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?$/.test(text)
}

/** The revision that a version names, if it is one. */
export function revisionOf(version: string): Revision | undefined {
  return REVISIONS.find((revision) => revision === version || monthOf(revision) === version)
}

/** The month that a revision is named by. */
export function monthOf(revision: string): string {
  return revision.slice(0, 7)
}

/** A revision in the form that its peer used for versions: a month, or a date. */
export function inFormOf(asked: string, revision: Revision): string {
  return asked.length === MONTH_CHARS ? monthOf(revision) : revision
}

/** The newest revision that is not newer than the requested version and at most one cycle older. */
export function agree(asked: string, served: readonly Revision[], cycle: Cycle): Revision | undefined {
  const date = dateOf(asked)
  const best = served.filter((revision) => revision <= date).at(-1)
  return best !== undefined && cyclesBetween(best, date, cycle) <= 1 ? best : undefined
}

const MONTH_CHARS = 7

/** A version in a form that sorts with revisions. No two revisions share a month. */
function dateOf(version: string): string {
  return revisionOf(version) ?? (version.length === MONTH_CHARS ? `${version}-00` : version)
}

/** An unknown version is one cycle after the revision before it. */
function cyclesBetween(revision: Revision, date: string, cycle: Cycle): number {
  if (cycle === 'month') return monthsOf(date) - monthsOf(revision)
  const between = REVISIONS.filter((known) => known > revision && known <= date).length
  return REVISIONS.some((known) => known === date) ? between : between + 1
}

function monthsOf(date: string): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7))
}
