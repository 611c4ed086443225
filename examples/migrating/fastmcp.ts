import { FastMCP, UserError } from 'fastmcp'
import { z } from 'zod'

const notes = new Map([['1', 'Buy rope']])
const server = new FastMCP({ name: 'notes', version: '1.0.0' })

server.addTool({
  name: 'add',
  description: 'Adds a note.',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }, { reportProgress }) => {
    if (text === '') throw new UserError('The note is empty.')
    await reportProgress({ progress: 1, total: 1 })
    const id = String(notes.size + 1)
    notes.set(id, text)
    return JSON.stringify({ id })
  },
})

server.addResourceTemplate({
  uriTemplate: 'notes://{id}',
  name: 'note',
  mimeType: 'text/plain',
  arguments: [
    {
      name: 'id',
      required: true,
      complete: async (value) => ({ values: [...notes.keys()].filter((id) => id.startsWith(value)) }),
    },
  ],
  load: async ({ id }) => ({ text: notes.get(id) ?? '' }),
})

server.addPrompt({
  name: 'summarise',
  arguments: [{ name: 'id', required: true }],
  load: async ({ id }) => `Summarise note ${id}.`,
})

await server.start({ transportType: 'stdio' })
