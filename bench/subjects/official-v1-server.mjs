import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
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

function add({ a, b }) {
  return { content: [{ type: 'text', text: String(a + b) }] }
}

async function addWithProgress({ a, b }, { sendNotification, _meta: { progressToken } }) {
  await sendNotification({
    method: 'notifications/progress',
    params: { progressToken, progress: 1, total: 2 },
  })
  return add({ a, b })
}
