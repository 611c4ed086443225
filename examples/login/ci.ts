import { browser, fileVault } from 'pierhead/auth/client'
import { connect, McpError } from 'pierhead/client'

const { NOTES_URL = 'https://mcp.example/mcp', NOTES_LOGIN = 'notes-login.json' } = process.env

const auth = browser({ vault: fileVault({ path: NOTES_LOGIN }), storedOnly: true })

try {
  await using notes = await connect(NOTES_URL, { auth })
  console.log(await notes.call('whoami'))
} catch (error) {
  if (!(error instanceof McpError) || error.kind !== 'login_needed') throw error
  console.error(`${error.message}\n${error.hint}`)
  process.exitCode = 3
}
