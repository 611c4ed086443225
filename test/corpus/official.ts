import { appendFileSync, mkdirSync } from 'node:fs'
import type { Revision } from '../../src/protocol/revisions.ts'
import { toOfficial, type Checker, type Official } from './checker.ts'
import { readRecording } from './recorded.ts'
import { readSchemas } from './schemas.ts'
import { withSdk } from './sdk.ts'
import { findSource, type Source } from './source.ts'
import { countCheck } from './tally.ts'

/** Where the checks of this run come from. */
export const SOURCE: Source = findSource()

/** The checks of a revision. */
export function officialOf(revision: Revision, source: Source = SOURCE): Official {
  const key = `${source} ${revision}`
  let official = officials.get(key)
  if (official === undefined) {
    const checker =
      source === 'none' ? withSdk(readRecording(revision), revision) : readSchemas(source, revision)
    official = toOfficial(counted(checker, revision))
    officials.set(key, official)
  }
  return official
}

const officials = new Map<string, Official>()

function counted(checker: Checker, revision: Revision): Checker {
  return {
    ...checker,
    check: (name, value, mode) => {
      const misfit = checker.check(name, value, mode)
      countCheck(name, misfit)
      if (misfit === undefined) keep(revision, name, value)
      return misfit
    },
  }
}

/** While a recording is made, values that passed are kept in the folder that `PIERHEAD_SAMPLES` names. */
function keep(revision: Revision, name: string, value: unknown): void {
  const folder = process.env['PIERHEAD_SAMPLES']
  if (folder === undefined || folder === '') return
  const form = `${revision} ${name} ${JSON.stringify(formOf(value))}`
  if (kept.has(form)) return
  kept.add(form)
  mkdirSync(folder, { recursive: true })
  appendFileSync(`${folder}/${process.pid}.jsonl`, `${JSON.stringify({ revision, name, value })}\n`)
}

const kept = new Set<string>()

/** The value without its texts and numbers, so that two values of the same form are kept once. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isTag(key, member) ? member : formOf(member)]),
  )
}

function isTag(key: string, member: unknown): boolean {
  return (
    typeof member === 'string' && /^(?:type|mode|action|role|level|status|cacheScope|resultType)$/.test(key)
  )
}
