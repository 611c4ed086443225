import { open, type FileHandle } from 'node:fs/promises'
import { createServer, type App, type Logger } from 'pierhead'
import { z } from 'zod'

/** A server that appends notes to a file, which is open while anyone uses the server. */
export function createJournal(path: string, log: Logger = console): App {
  let file: FileHandle

  const app = createServer({
    name: 'journal',
    version: '1.0.0',
    log,
    onStart: async () => {
      file = await open(path, 'a')
    },
    onStop: () => file.close(),
  })

  app.tool(
    'note',
    { description: 'Adds a line to the journal.', input: z.object({ text: z.string() }) },
    async ({ text }) => {
      await file.appendFile(`${text}\n`)
      return 'noted'
    },
  )
  return app
}
