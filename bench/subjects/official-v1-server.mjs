import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { addContent as add } from './handlers.mjs'
import { about, options } from './options.mjs'
import { addInput, wideToolsOf } from './zod-tools.mjs'

const wideTools = wideToolsOf(options.wide)

/** A server of the official SDK, version 1: one per connection or session. */
export function createOfficialV1() {
  const server = new McpServer(about)
  const described = { description: 'Adds two numbers.', inputSchema: addInput.shape }
  if (options.add) server.registerTool('add', described, options.progress ? addWithProgress : add)
  for (const { name, description, input } of wideTools)
    server.registerTool(name, { description, inputSchema: input.shape }, () => ({
      content: [{ type: 'text', text: 'filed' }],
    }))
  return server
}

async function addWithProgress(input, { sendNotification, _meta: { progressToken } }) {
  await sendNotification({
    method: 'notifications/progress',
    params: { progressToken, progress: 1, total: 2 },
  })
  return add(input)
}
