import { afterAll, beforeEach, type RunnerTestFile } from 'vitest'
import type { Misfit } from './shape.ts'

/** How many values the schemas checked in one test file, and how many they could not check. */
export interface SchemaChecks {
  readonly checked: number
  readonly unchecked: number
}

declare module 'vitest' {
  interface TaskMeta {
    schemaChecks?: SchemaChecks
  }
}

let checked = 0
const unchecked: string[] = []

/** Counts one check. */
export function countCheck(name: string, misfit: Misfit | undefined): void {
  if (misfit?.kind === 'unseen') unchecked.push(`${name}: ${misfit.text}`)
  else checked++
}

/** What a test provokes on purpose is taken out of the count. */
export function takeUnchecked(): readonly string[] {
  return unchecked.splice(0)
}

let file: RunnerTestFile | undefined
beforeEach(({ task }) => {
  file = task.file
})

afterAll(() => {
  if (file !== undefined) file.meta.schemaChecks = { checked, unchecked: unchecked.length }
  if (unchecked.length > 0)
    throw new Error(
      `${unchecked.length} messages could not be checked:\n${unchecked.slice(0, 20).join('\n')}`,
    )
})
