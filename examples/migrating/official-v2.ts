import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const notes = new Map([['1', 'Buy rope']])
const server = new McpServer({ name: 'notes', version: '1.0.0' })

server.registerTool(
  'add',
  {
    description: 'Adds a note.',
    inputSchema: z.object({ text: z.string() }),
    outputSchema: z.object({ id: z.string() }),
  },
  async ({ text }) => {
    if (text === '') return { content: [{ type: 'text', text: 'The note is empty.' }], isError: true }
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

server.registerPrompt('summarise', { argsSchema: z.object({ id: z.string() }) }, ({ id }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Summarise note ${id}.` } }],
}))

await server.connect(new StdioServerTransport())
