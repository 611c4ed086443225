import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { HEADER_MISMATCH } from '../errors/http.ts'
import type { ToolDefinition } from '../server/definitions.ts'
import { checkParamHeaders, paramHeadersOf } from '../wire/param-headers.ts'

/** The tool with the check of the headers that its input schema asks for; refuses one that asks for impossible ones. */
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
