import { nearest } from '../base/nearest.ts'
import { wrongUsage, type Failure } from './failure.ts'
import { safeLine } from './safe-text.ts'

/** The failure that the server has no tool of a name. */
export function unknownTool(name: string, names: readonly string[]): Failure {
  const similar = nearest(name, names)
  const some = safeLine(names.slice(0, 30).join(', '), 500)
  return wrongUsage(
    `there is no tool "${name}"${similar === undefined ? '' : `; did you mean "${safeLine(similar)}"?`}`,
    names.length === 0
      ? 'The server has no tools.'
      : `The tools are ${some}${names.length > 30 ? ', …' : ''}.`,
  )
}
