import { connectAll, type Config } from 'pierhead/client'

/** Lists the tools of every server in a configuration, and why servers failed. */
export async function inventory(config: Config): Promise<readonly string[]> {
  await using group = await connectAll(config)
  const lines: string[] = []
  for await (const tool of group.tools()) lines.push(tool.name)
  for (const [server, error] of group.failures) lines.push(`${server} failed: ${error.message}`)
  return lines
}
