import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const notes = new Map([['1', 'Buy rope']])
const server = new McpServer({ name: 'notes', version: '1.0.0' })

server.registerTool(
  'add',
  { description: 'Adds a note.', inputSchema: { text: z.string() }, outputSchema: { id: z.string() } },
  async ({ text }, extra) => {
    if (text === '') return { content: [{ type: 'text', text: 'The note is empty.' }], isError: true }
    const progressToken = extra._meta?.progressToken
    if (progressToken !== undefined)
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 1 },
      })
    const id = String(notes.size + 1)
    notes.set(id, text)
    server.sendResourceListChanged()
    return { content: [{ type: 'text', text: JSON.stringify({ id }) }], structuredContent: { id } }
  },
)

server.registerResource(
  'note',
  new ResourceTemplate('notes://{id}', {
    list: () => ({ resources: [...notes.keys()].map((id) => ({ uri: `notes://${id}`, name: id })) }),
    complete: { id: (value) => [...notes.keys()].filter((id) => id.startsWith(value)) },
  }),
  { mimeType: 'text/plain' },
  (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: notes.get(String(id)) ?? '' }],
  }),
)

server.registerPrompt('summarise', { argsSchema: { id: z.string() } }, ({ id }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Summarise note ${id}.` } }],
}))

await server.connect(new StdioServerTransport())
