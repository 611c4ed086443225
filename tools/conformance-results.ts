import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Side } from './conformance-suite.ts'

/** One check of a scenario, as the suite writes it. */
export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
}

export interface Verdict {
  readonly passed: boolean
  /** The failures and warnings of the suite. */
  readonly notes: readonly string[]
}

/** Checked on every message of every scenario, so it says nothing about a particular scenario. */
const COMMON_CHECK = 'wire-schema-valid'

/** The line that the client under test prints when it ends successfully. */
const SUCCESS_LINE = 'ended with 0'

/** Whether a scenario passed: one of its own checks succeeded, and nothing failed or caused a warning. */
export function judge(checks: readonly Check[] | undefined): Verdict {
  if (checks === undefined) return { passed: false, notes: ['it exited before it wrote its checks'] }
  const failed = checks.filter((check) => check.status === 'FAILURE')
  const warned = checks.filter((check) => check.status === 'WARNING')
  const proved = checks.some((check) => check.status === 'SUCCESS' && check.id !== COMMON_CHECK)
  const vacuous = failed.length === 0 && !proved ? ['none of its own checks succeeded'] : []
  const notes = [...vacuous, ...[...failed, ...warned].map(toNote)]
  return { passed: notes.length === 0, notes }
}

/**
 * The verdict on a scenario from the folder of a run, without the checks that are left out. A client must also have ended by itself,
 * without an error.
 */
export function judgeRun(
  folder: string,
  side: Side,
  scenario: string,
  leftOut: ReadonlySet<string> = new Set(),
): Verdict {
  const own = folderOf(folder, side, scenario)
  const checks = own === undefined ? undefined : readChecks(own)
  const verdict = judge(checks?.filter(({ id }) => !leftOut.has(id)))
  if (side === 'server' || own === undefined) return verdict
  const output = readIfPresent(join(own, 'stdout.txt'))
  if (output.trimEnd().endsWith(SUCCESS_LINE)) return verdict
  const reason = readIfPresent(join(own, 'stderr.txt')).trim() || 'it was killed, or exited without a message'
  return { passed: false, notes: [...verdict.notes, `the client failed: ${reason}`] }
}

function folderOf(folder: string, side: Side, scenario: string): string | undefined {
  const name = `${side === 'server' ? 'server-' : ''}${scenario}`
  const parent = join(folder, dirname(name))
  const stamped = new RegExp(`^${basename(name)}-\\d{4}-\\d\\d-\\d\\dT`)
  const found = existsSync(parent) ? readdirSync(parent).find((entry) => stamped.test(entry)) : undefined
  return found === undefined ? undefined : join(parent, found)
}

function readChecks(folder: string): readonly Check[] | undefined {
  const file = join(folder, 'checks.json')
  if (!existsSync(file)) return undefined
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Check[]
}

function readIfPresent(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function toNote(check: Check): string {
  const message = check.errorMessage ?? check.description ?? 'no message'
  return `${check.status === 'WARNING' ? 'warning: ' : ''}${check.id}: ${message}`
}
