import { mkdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import type { SchemaChecks } from '../test/corpus/tally.ts'

/** One test in the form that the requirements report reads. */
export interface TestResult {
  readonly file: string
  readonly title: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
}

/** The file with the results of the last complete run. */
export const RESULTS = '.cache/test-results.json'

/** Ends a run with the line `N passed, N failed`, and fails it if tests are skipped; a complete run also records every result. */
export default class ClosingLine implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): Promise<void> {
    const results = modules.flatMap(toResults)
    const broken = modules.filter(isBroken).length
    if (await this.#isComplete(modules)) record([...results, ...modules.filter(isBroken).map(toFailure)])
    process.stdout.write(schemaLine(modules.map((module) => module.meta().schemaChecks)))
    // A test marked as skipped proves nothing; one excluded by a name pattern was not requested.
    const requested = this.#vitest?.config.testNamePattern
      ? results.filter((one) => !isSkipped(one))
      : results
    process.stdout.write(`\n${closingLine(requested, broken + unhandled.length)}\n`)
    if (requested.some(isSkipped)) process.exitCode = 1
  }

  async #isComplete(modules: readonly TestModule[]): Promise<boolean> {
    if (!this.#vitest || this.#vitest.config.testNamePattern) return false
    const all = await this.#vitest.globTestSpecifications()
    return all.length === modules.length
  }
}

/** The closing line; `broken` counts files and errors that failed outside any test. */
export function closingLine(results: readonly TestResult[], broken: number): string {
  const count = (...states: readonly TestResult['state'][]): number =>
    results.filter((result) => states.includes(result.state)).length
  const skipped = results.filter(isSkipped).length
  const line = `${count('passed')} passed, ${count('failed') + broken} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

/** The number of messages that schemas checked; files whose tests need no schema count none. */
export function schemaLine(counts: readonly (SchemaChecks | undefined)[]): string {
  const made = counts.filter((count) => count !== undefined)
  const sum = (key: keyof SchemaChecks): number => made.reduce((total, count) => total + count[key], 0)
  if (made.length === 0) return ''
  return `\n${sum('checked')} messages checked against schemas, ${sum('unchecked')} could not be checked\n`
}

function isSkipped({ state }: TestResult): boolean {
  return state === 'skipped' || state === 'pending'
}

function record(results: readonly TestResult[]): void {
  mkdirSync('.cache', { recursive: true })
  writeFileSync(RESULTS, JSON.stringify(results, null, 1))
}

function toResults(module: TestModule): readonly TestResult[] {
  const file = relative(process.cwd(), module.moduleId)
  return [...module.children.allTests()].map((found) => ({
    file,
    title: found.fullName,
    state: found.result().state,
  }))
}

/** Whether something failed outside any test, as when a file cannot be loaded. */
export function isBroken(module: TestModule): boolean {
  return (
    module.errors().length > 0 || [...module.children.allSuites()].some((suite) => suite.errors().length > 0)
  )
}

/** A broken file counts as a failed test, so that nothing is recorded as proved while one is. */
function toFailure(module: TestModule): TestResult {
  return { file: relative(process.cwd(), module.moduleId), title: 'outside any test', state: 'failed' }
}
