import type { Client } from 'pierhead/client'

/** What a server says of itself, and its tools. */
export async function explore(client: Client): Promise<readonly string[]> {
  const { revision, info } = await client.server()
  const lines = [`${String(info?.['name'])} speaks ${revision}`]
  for await (const { name, description } of client.tools()) lines.push(`${name}: ${description ?? ''}`)
  return lines
}
