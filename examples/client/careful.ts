import { connect, type Client, type Target } from 'pierhead/client'

/** A client that asks for approval before every tool call. */
export async function connectCarefully(
  target: Target,
  approve: (tool: string, input: unknown) => Promise<boolean>,
): Promise<Client> {
  const client = await connect(target)
  client.use('tools/call', async (request, next) => {
    const { name, arguments: input } = request.params
    if (!(await approve(String(name), input))) throw new Error(`${String(name)} was not approved`)
    return next()
  })
  return client
}
