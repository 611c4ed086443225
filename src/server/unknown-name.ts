import { nearest } from '../base/nearest.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { NAME_TOO_LONG, type UNKNOWN_PROMPT, type UNKNOWN_TOOL } from '../errors/server.ts'
import { partsOf, type Context } from './context.ts'
import type { Item } from './definitions.ts'
import type { List } from './lists.ts'

/** The error for a tool or prompt that does not exist for the caller, with the name that was probably meant. */
export function unknownName(
  row: typeof UNKNOWN_PROMPT | typeof UNKNOWN_TOOL,
  name: string,
  list: Pick<List<Item>, 'seenBy'>,
  context: Context,
): McpError {
  const { nameLength } = partsOf(context).limits
  if (name.length > nameLength) return mcpError(NAME_TOO_LONG, { limit: nameLength })
  const meant = nearest(name, list.seenBy(context, 1000))
  return mcpError(row, {
    name: name.slice(0, 128),
    nearest: meant === undefined ? '' : `; did you mean "${meant}"?`,
  })
}
