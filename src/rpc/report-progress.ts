import { guarded } from '../base/guarded.ts'
import type { Deadline } from './deadline.ts'

/** Calls the listener for progress. If it throws, or returns a promise that is rejected, the request ends. */
export function reportProgress<Progress>(
  onProgress: ((progress: Progress) => unknown) | undefined,
  deadline: Deadline,
  progress: Progress,
): void {
  guarded(
    () => onProgress?.(progress),
    (error) => deadline.abort(error instanceof Error ? error : new Error(String(error))),
  )
}
