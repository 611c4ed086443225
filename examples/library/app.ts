import { createServer, ToolError, type App, type Context } from 'pierhead'
import { z } from 'zod'
import { Shelf } from './shelf.ts'

const readerOf = ({ auth }: Context): string => auth?.sub ?? 'guest'

/** A library that lists the books which its caller has borrowed. */
export function createLibrary(): App {
  const shelf = new Shelf()
  const app = createServer({ name: 'library', version: '1.0.0' })

  app.resource(
    'books://{id}',
    {
      mimeType: 'text/plain',
      list: (ctx) => shelf.booksOf(readerOf(ctx)).map(({ id, title }) => ({ variables: { id }, title })),
    },
    ({ id }, ctx) => shelf.booksOf(readerOf(ctx)).find((book) => book.id === id)?.text,
  )

  app.tool(
    'borrow',
    { description: 'Borrows a book.', input: z.object({ id: z.string() }) },
    ({ id }, ctx) => {
      const book = shelf.borrow(readerOf(ctx), id)
      if (book === undefined) throw new ToolError(`There is no book "${id}".`)
      app.changed('resources')
      return `You have borrowed ${book.title}.`
    },
  )
  return app
}

/** At night, nobody can borrow a book. */
export function close(app: App): void {
  app.disable('tool', 'borrow')
}

export function open(app: App, until: string): void {
  app.update('tool', 'borrow', { description: `Borrows a book; the library is open until ${until}.` })
  app.enable('tool', 'borrow')
}
