import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { HEADER_MISMATCH } from '../errors/http.ts'
import type { ToolDefinition } from '../server/definitions.ts'
import { checkParamHeaders, paramHeadersOf } from '../wire/param-headers.ts'

/** Adds the check of the param headers in a tool's input schema. Throws if the schema asks for impossible headers. */
export function withHeaderCheck(tool: ToolDefinition): ToolDefinition {
  const rules = paramHeadersOf(tool.input.json)
  if ('problem' in rules)
    throw mcpError(BAD_DEFINITION, { item: `tool "${tool.key}"`, reason: rules.problem })
  if (rules.length === 0) return tool
  const checkHeaders: ToolDefinition['checkHeaders'] = (input, lookUp) => {
    const problem = checkParamHeaders(rules, input, lookUp)
    if (problem === undefined) return
    const { header, reason } = problem
    throw mcpError(HEADER_MISMATCH, { header, reason }, { data: { header } })
  }
  return { ...tool, checkHeaders }
}
