import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import { about, options } from './options.mjs'
import { addInput, wideTools } from './zod-tools.mjs'

/** A tmcp server. */
export const server = new McpServer(about, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: { tools: {} },
})
if (options.add)
  server.tool({ name: 'add', description: 'Adds two numbers.', schema: addInput }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }))
for (const { name, description, input } of wideTools)
  server.tool({ name, description, schema: input }, () => ({ content: [{ type: 'text', text: 'filed' }] }))
