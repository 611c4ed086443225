import { nearest } from '../base/nearest.ts'
import { suggestion } from './arranged-line.ts'
import { EXIT } from './exit.ts'
import { Failure, failureOf } from './failure.ts'
import { safeLine } from './safe-text.ts'

/** The codes of invalid params, and of resources that do not exist up to 2025-11-25. */
const REJECTED: readonly unknown[] = [-32_602, -32_002]
const MEANT = 'did you mean'

/** Adds the name that was probably meant to the error of a server that rejects another one. `list` asks the server for its names. */
export async function orNearName<Result>(
  result: Promise<Result>,
  name: string,
  list: () => Promise<readonly string[]>,
): Promise<Result> {
  try {
    return await result
  } catch (error) {
    const { message, hint, exit } = failureOf(error)
    // The server may know better.
    const isName = REJECTED.includes((error as { readonly code?: unknown }).code) && !message.includes(MEANT)
    if (exit !== EXIT.server || !isName) throw error
    const names = await list().catch((): readonly string[] => [])
    const meant = names.includes(name) ? undefined : nearest(name, names)
    if (meant === undefined) throw error
    throw new Failure(`${message}${suggestion(safeLine(meant))}`, { hint, exit, cause: error })
  }
}
