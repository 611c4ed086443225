import type { Client } from '../../client/client.ts'

/** The servers that may have a resource. A server that fails is left out. */
export async function findOwners(
  clients: ReadonlyMap<string, Client>,
  uri: string,
): Promise<readonly string[]> {
  const found = [...clients].map(async ([server, client]) => {
    const has = await mayHave(client, uri).catch(() => false)
    return has ? [server] : []
  })
  return (await Promise.all(found)).flat()
}

/** Whether a server lists a resource, or has a template that begins like it: only the server itself can tell for sure. */
async function mayHave(client: Client, uri: string): Promise<boolean> {
  for await (const resource of client.resources()) if (resource.uri === uri) return true
  for await (const { uriTemplate } of client.templates()) {
    const variables = uriTemplate.indexOf('{')
    if (variables >= 0 && uri.startsWith(uriTemplate.slice(0, variables))) return true
  }
  return false
}
