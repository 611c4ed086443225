import { McpServer } from '@modelcontextprotocol/server'
import { addContent as add } from './handlers.mjs'
import { about, options } from './options.mjs'
import { addInput, wideToolsOf } from './zod-tools.mjs'

const wideTools = wideToolsOf(options.wide)

/** A server of the official SDK, version 2; all servers share their schemas. */
export function createOfficialV2() {
  const server = new McpServer(about)
  const described = { description: 'Adds two numbers.', inputSchema: addInput }
  if (options.add) server.registerTool('add', described, options.progress ? addWithProgress : add)
  for (const { name, description, input } of wideTools)
    server.registerTool(name, { description, inputSchema: input }, () => ({
      content: [{ type: 'text', text: 'filed' }],
    }))
  return server
}

async function addWithProgress(input, { mcpReq }) {
  const { progressToken } = mcpReq._meta
  await mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress: 1, total: 2 },
  })
  return add(input)
}
