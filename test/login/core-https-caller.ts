import { readFileSync } from 'node:fs'
import { connect, type ClientTls, type McpError } from 'pierhead/client'

/** Calls the tool `who` of the server at the URL in the first argument with each of the TLS options in the file of the second. */
const [, , url = '', file = ''] = process.argv
const outcomes: unknown[] = []
for (const tls of JSON.parse(readFileSync(file, 'utf8')) as readonly ClientTls[]) {
  try {
    const client = await connect(url, { tls, recovery: false, timeout: '5s' })
    outcomes.push(await client.call('who'))
    await client.close()
  } catch (error) {
    const { kind, message } = error as McpError
    outcomes.push(`${kind}: ${message}`)
  }
}
console.log(JSON.stringify(outcomes))
