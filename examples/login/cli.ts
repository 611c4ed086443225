import { browser, fileVault } from 'pierhead/auth/client'
import { connect, McpError } from 'pierhead/client'

const [url = 'http://127.0.0.1:3000/mcp', tool = 'whoami'] = process.argv.slice(2)
const auth = browser({ clientName: 'Notes on the command line', vault: fileVault() })

try {
  await using notes = await connect(url, { auth })
  console.log(await notes.call(tool))
} catch (error) {
  if (!(error instanceof McpError)) throw error
  console.error(`${error.message}\n${error.hint}`)
  process.exitCode = 1
}
