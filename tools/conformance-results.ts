import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One check of a scenario, as the suite writes it. */
export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
}

export interface Verdict {
  readonly passed: boolean
  /** What failed, or what the suite would like better. */
  readonly notes: readonly string[]
}

/** Checked on every message of every scenario, so by itself it says nothing about the scenario. */
const EVERYWHERE = 'wire-schema-valid'

/**
 * Whether a scenario passed: something of its own succeeded, and nothing failed or drew a warning.
 * Warnings are noted and do not fail it, as in the suite itself.
 */
export function judge(checks: readonly Check[] | undefined): Verdict {
  if (checks === undefined) return { passed: false, notes: ['it ended before it wrote its checks'] }
  const failed = checks.filter((check) => check.status === 'FAILURE')
  const warned = checks.filter((check) => check.status === 'WARNING')
  const proved = checks.some((check) => check.status === 'SUCCESS' && check.id !== EVERYWHERE)
  const vacuous = failed.length === 0 && !proved ? ['nothing of its own was checked'] : []
  return { passed: failed.length === 0 && warned.length === 0 && proved, notes: [...vacuous, ...[...failed, ...warned].map(toNote)] }
}

/** The checks of a scenario from the folder of a run; undefined when it wrote none. */
export function readChecks(folder: string, scenario: string): readonly Check[] | undefined {
  const stamped = new RegExp(`^server-${scenario}-\\d{4}-\\d\\d-\\d\\dT`)
  const found = readdirSync(folder).find((name) => stamped.test(name))
  const file = found === undefined ? undefined : join(folder, found, 'checks.json')
  if (file === undefined || !existsSync(file)) return undefined
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Check[]
}

function toNote(check: Check): string {
  const said = check.errorMessage ?? check.description ?? 'no message'
  return `${check.status === 'WARNING' ? 'warning: ' : ''}${check.id}: ${said}`
}
