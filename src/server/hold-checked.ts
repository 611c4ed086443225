import type { Checked } from '../schema/checker.ts'
import { callOf, partsOf, type Context } from './context.ts'

/**
 * Counts checked arguments among what is in flight, until the request is over, if a schema has made a large copy of them. Throws if
 * that is too much. Tasks count what they keep.
 */
export function holdChecked(checked: Checked, context: Context): void {
  const call = callOf(context)
  if (!checked.ok || checked.bytes === undefined || call.task !== undefined) return
  const { load, limits } = partsOf(context)
  load.holdCopy(call, checked.bytes, limits)
}
