import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { about, options } from './options.mjs'
import { addInput, wideTools } from './zod-tools.mjs'

/** A server of the official SDK, version 1: one for each connection or session. */
export function createOfficialV1() {
  const server = new McpServer(about)
  if (options.add)
    server.registerTool(
      'add',
      { description: 'Adds two numbers.', inputSchema: addInput.shape },
      ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      }),
    )
  for (const { name, description, input } of wideTools)
    server.registerTool(name, { description, inputSchema: input.shape }, () => ({
      content: [{ type: 'text', text: 'filed' }],
    }))
  return server
}
