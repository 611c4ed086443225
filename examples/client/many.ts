import { connectAll, type Config } from 'pierhead/client'

/** Lists the tools of every server in a configuration, and why servers failed. */
export async function inventory(config: Config): Promise<readonly string[]> {
  await using group = await connectAll(config)
  const lines: string[] = []
  for await (const tool of group.tools()) lines.push(tool.name)
  for (const [server, error] of group.failures) lines.push(`${server} failed: ${error.message}`)
  return lines
}

/** A model that picks a tool. */
export type Model = (
  tools: readonly { readonly name: string; readonly input_schema: object }[],
) => Promise<{ readonly name: string; readonly input: Readonly<Record<string, unknown>> }>

/** Lets a model choose among the tools of all servers, and calls the one it chose. */
export async function ask(config: Config, model: Model): Promise<unknown> {
  await using group = await connectAll(config, { separator: '-' })
  const tools: { name: string; input_schema: object }[] = []
  for await (const { name, inputSchema } of group.tools()) tools.push({ name, input_schema: inputSchema })
  const { name, input } = await model(tools)
  return await group.call(name, input)
}

/** Calls a tool, and asks the user whether to agree when a server has a question; the user sees which server asks. */
export async function consult(
  config: Config,
  tool: string,
  confirm: (question: string) => Promise<boolean>,
): Promise<unknown> {
  await using group = await connectAll(config, {
    answers: (server) => ({
      elicit: async ({ message }) => ({
        action: (await confirm(`${server}: ${message}`)) ? 'accept' : 'decline',
      }),
    }),
  })
  return await group.call(tool)
}

/** Prints every resource that changes, from whichever server. */
export async function follow(
  config: Config,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await using group = await connectAll(config)
  const uris: string[] = []
  for await (const { uri, server } of group.resources()) {
    const { contents } = await group.read(uri, { server })
    print(`${server} has ${uri}, ${contents[0]?.mimeType}`)
    uris.push(uri)
  }
  for await (const change of group.watch({ resources: uris, signal }))
    if (change.kind === 'resource') print(`${change.server} changed ${change.uri}`)
}
