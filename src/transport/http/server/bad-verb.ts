import { mcpError, type McpError } from '../../../errors/error.ts'
import { BAD_VERB } from '../../../errors/http.ts'

/** The error for an HTTP method that a path does not have. */
export function badVerb(verb: string, instead: string = 'send MCP messages with POST'): McpError {
  return mcpError(BAD_VERB, { verb: verb.slice(0, 32), instead })
}
