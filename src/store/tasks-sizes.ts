import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { TASK_OVERHEAD } from '../tasks/room.ts'
import type { TaskChange, TaskText } from '../tasks/store.ts'
import { storedBytes, storedText } from './stored-text.ts'
import { changedTexts } from './tasks-columns.ts'
import type { StoredHolder } from './tasks-counts.ts'

/** The texts of a task, as they are stored. */
export function textsOf({ request, state, outcome }: TaskRecord): readonly string[] {
  return [request, state, outcome].map(storedText)
}

/** What a task with these texts takes of the room. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + storedBytes(text), TASK_OVERHEAD)
}

/** The bytes of the texts of a task; null for those that are missing. */
export type TextSizes = Readonly<Record<TaskText, unknown>>

/** How much more the texts of a task take after a change. */
export function growth(before: TextSizes, change: TaskChange): number {
  return changedTexts(change).reduce(
    (sum, [name, text]) => sum + storedBytes(storedText(text)) - Number(before[name] ?? 0),
    0,
  )
}

/** Those who share the limits of a task. */
export function holderOf({ scope, network }: TaskHead): StoredHolder {
  return { scope: storedText(scope), network: storedText(network) }
}

/** Long past the end of any lease. */
export const FORGOTTEN_MS: number = 24 * 60 * 60 * 1000

/** Databases have no limit without an end. */
export function whole(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}
