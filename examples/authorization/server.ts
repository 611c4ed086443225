import { createServer } from 'pierhead'
import { oauth } from 'pierhead/auth'

const { ISSUER = 'https://id.example', RESOURCE = 'https://mcp.example/mcp', PORT = '3000' } = process.env

const auth = oauth({ issuer: ISSUER, resource: RESOURCE, scopes: ['notes:read'] })

const app = createServer({ name: 'notes', version: '1.0.0', auth })

app.tool('whoami', { description: 'Says who calls.' }, (_, ctx) => `You are ${ctx.auth?.sub}.`)
app.tool('erase', { description: 'Deletes all notes.', scopes: ['notes:write'] }, () => 'All notes are gone.')

const { url } = await app.listen({ http: { port: Number(PORT), hosts: ['mcp.example', '127.0.0.1'] } })
console.log(`listening on ${url}`)
