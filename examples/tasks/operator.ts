import { sqlite } from 'pierhead/stores'
import { createFilms, retryFailed } from './films.ts'

const store = sqlite(process.env['FILMS'] ?? 'films.db')
const app = createFilms({ store })
for (const { id, key, statusMessage } of await app.tasks.list({ status: 'failed' }))
  console.log(`${id} (${key}): ${statusMessage}`)
console.log('again:', await retryFailed(app))
await app.close()
await store.close()
