import { LONGEST_MS } from '../base/duration.ts'
import { mcpError } from '../errors/error.ts'
import { TOOL_TIMEOUT } from '../errors/server.ts'
import { callOf, type Context } from './context.ts'
import type { ToolDefinition } from './definitions.ts'
import { drain, isGenerator } from './generators.ts'

/** Runs a tool with a time limit; on timeout its signal aborts and the result says so. */
export function withTimeout(tool: ToolDefinition, input: unknown, context: Context): Promise<unknown> {
  const ms = tool.timeoutMs!
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(mcpError(TOOL_TIMEOUT, { name: tool.key, ms }))
      callOf(context).abort(mcpError(TOOL_TIMEOUT, { name: tool.key, ms }))
    }
    const timer = ms > LONGEST_MS ? undefined : setTimeout(stop, ms)
    const run = async (): Promise<unknown> => {
      const value = await tool.run(input, context)
      return isGenerator(value) ? drain(value, context) : value
    }
    run()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
