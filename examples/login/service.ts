import { readFileSync } from 'node:fs'
import { clientCredentials } from 'pierhead/auth/client'
import { connect } from 'pierhead/client'

const { NOTES_URL = 'https://mcp.example/mcp', ISSUER = 'https://id.example' } = process.env
const { CLIENT_ID = 'reports', KEY_FILE = 'reports.pem' } = process.env

const auth = clientCredentials({
  clientId: CLIENT_ID,
  key: readFileSync(KEY_FILE, 'utf8'),
  issuer: ISSUER,
  scopes: ['notes:read'],
})

await using notes = await connect(NOTES_URL, { auth })
console.log(await notes.call('whoami'))
