import { connect, McpError, refusalOf, ToolError, type Target } from 'pierhead/client'

/** Calls a tool and describes the outcome. */
export async function outcome(
  target: Target,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  try {
    await using client = await connect(target)
    return JSON.stringify(await client.call(tool, input))
  } catch (error) {
    if (error instanceof ToolError) return `the tool failed: ${error.message}`
    if (!(error instanceof McpError)) throw error
    switch (error.kind) {
      case 'connect_failed':
        return `not reached: ${error.hint}`
      case 'timeout':
        return 'no answer in time'
      default:
        if (error.refusal === 'TOOL_NOT_FOUND') return `look at client.tools() again: ${error.message}`
        return refusalOf(error)?.reaction === 'back off' ? 'try again later' : error.message
    }
  }
}
