import { sqlite } from 'pierhead/stores'
import { createFilms } from './films.ts'

const app = createFilms({ store: sqlite(process.env['FILMS'] ?? 'films.db') })
await app.listen({ http: { port: Number(process.env['PORT'] ?? 3000) } })
