import { connect, McpError } from 'pierhead/client'
import { explore } from './explore.ts'

const [target = 'http://127.0.0.1:3000/mcp'] = process.argv.slice(2)

try {
  await using client = await connect(target)
  for (const line of await explore(client)) console.log(line)
} catch (error) {
  if (!(error instanceof McpError)) throw error
  console.error(`error: ${error.message}\nfix: ${error.hint}`)
  process.exitCode = 1
}
