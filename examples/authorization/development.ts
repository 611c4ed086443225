import { createServer } from 'pierhead'
import { devAuth } from 'pierhead/auth/dev'

const app = createServer({ name: 'notes', version: '1.0.0', auth: await devAuth({ scopes: ['notes:read'] }) })

app.tool('whoami', { description: 'Says who calls.' }, (_, { auth }) => `You are ${auth?.sub}.`)
app.tool('erase', { description: 'Deletes all notes.', scopes: ['notes:write'] }, () => 'All notes are gone.')

const { url } = await app.listen({ http: { port: Number(process.env['PORT'] ?? 3000) } })
console.log(`listening on ${url}`)
