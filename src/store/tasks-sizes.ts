import type { TaskHead, TaskRecord } from '../tasks/record.ts'
import { TASK_OVERHEAD } from '../tasks/room.ts'
import { storedBytes, storedText } from './stored-text.ts'
import type { StoredHolder } from './tasks-counts.ts'

/** The texts of a task, as they are stored. */
export function textsOf({ request, state, outcome }: TaskRecord): readonly string[] {
  return [request, state, outcome].map(storedText)
}

/** What a task with these texts takes of the room. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + storedBytes(text), TASK_OVERHEAD)
}

/** How much more a text of so many bytes takes after a change, which may leave it as it is. */
export function growth(before: unknown, after: string | undefined): number {
  return after === undefined ? 0 : storedBytes(storedText(after)) - Number(before ?? 0)
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
