import { connect, type McpError } from 'pierhead/client'

/** Calls the tools named by the arguments at the URL in the first one, and prints the outcomes. */
const [, , url = '', ...tools] = process.argv
const client = await connect(url)
const outcomes: unknown[] = []
for (const tool of tools)
  outcomes.push(await client.call(tool).catch(({ kind, message }: McpError) => `${kind}: ${message}`))
await client.close()
console.log(JSON.stringify(outcomes))
