import { createServer, ToolError } from 'pierhead'
import { z } from 'zod'

const notes = new Map([['1', 'Buy rope']])
const app = createServer({ name: 'notes', version: '1.0.0' })

app.tool(
  'add',
  {
    description: 'Adds a note.',
    input: z.object({ text: z.string() }),
    output: z.object({ id: z.string() }),
  },
  async ({ text }, ctx) => {
    if (text === '') throw new ToolError('The note is empty.')
    ctx.progress(1, 1)
    const id = String(notes.size + 1)
    notes.set(id, text)
    app.changed('resources')
    return { id }
  },
)

app.resource(
  'notes://{id}',
  {
    name: 'note',
    mimeType: 'text/plain',
    list: () => [...notes.keys()].map((id) => ({ variables: { id } })),
  },
  ({ id }) => notes.get(id),
)
app.complete('notes://{id}', 'id', (value) => [...notes.keys()].filter((id) => id.startsWith(value)))

app.prompt(
  'summarise',
  { description: 'Summarises a note.', args: z.object({ id: z.string() }) },
  ({ id }) => `Summarise note ${id}.`,
)

await app.listen()
