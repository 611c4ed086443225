import { connect, ToolError, type Target } from 'pierhead/client'

/** Explores a harbour and reports what it offers. */
export async function visit(target: Target): Promise<readonly string[]> {
  const seen: string[] = []
  await using client = await connect(target)

  const { info, revision } = await client.server()
  seen.push(`${String(info?.['name'])} speaks ${revision}`)

  for await (const tool of client.tools()) seen.push(`tool ${tool.name}`)

  const tide = await client.call('tide', { hour: 0 })
  seen.push(`tide ${JSON.stringify(tide)}`)

  const calls = await client.call(
    'radio',
    {},
    { timeout: '5s', onProgress: ({ message }) => seen.push(`heard ${message}`) },
  )
  seen.push(`${(calls as readonly unknown[]).length} berths answered`)

  try {
    await client.call('book', { berth: 'A1' })
  } catch (error) {
    if (error instanceof ToolError) seen.push(error.message)
  }
  return seen
}
