import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import { addContent as add } from './handlers.mjs'
import { about, options } from './options.mjs'
import { addInput, wideToolsOf } from './zod-tools.mjs'

const wideTools = wideToolsOf(options.wide)

/** A tmcp server. */
export const server = new McpServer(about, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: { tools: {} },
})
const described = { name: 'add', description: 'Adds two numbers.', schema: addInput }
if (options.add) server.tool(described, options.progress ? addWithProgress : add)
for (const { name, description, input } of wideTools)
  server.tool({ name, description, schema: input }, () => ({ content: [{ type: 'text', text: 'filed' }] }))

function addWithProgress(input) {
  server.progress(1, 2)
  return add(input)
}
