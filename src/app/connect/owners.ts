import type { Client } from '../../client/client.ts'
import type { CallOptions } from '../../client/options.ts'
import { McpError } from '../../errors/error.ts'

/** The servers that may have each resource, and the errors of those that could not say. */
export interface Owners {
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly failures: ReadonlyMap<string, unknown>
}

/**
 * Finds the servers that list resources or, for those that none lists, the servers with a template that begins like them:
 * only the server itself can tell for sure. Each list is read once, with `limits` as its options.
 */
export async function findOwners(
  clients: ReadonlyMap<string, Client>,
  uris: readonly string[],
  limits: () => CallOptions,
): Promise<Owners> {
  const listing = await findIn(clients, uris, async (client, left) => {
    for await (const { uri } of client.resources(limits())) if (left.delete(uri) && left.size === 0) return
  })
  const unlisted = uris.filter((uri) => !listing.owners.has(uri))
  if (unlisted.length === 0 || listing.failures.size > 0) return listing
  const { owners, failures } = await findIn(clients, unlisted, async (client, left) => {
    for await (const { uriTemplate } of client.templates(limits()))
      for (const uri of left) if (begins(uriTemplate, uri)) left.delete(uri)
  })
  return { owners: new Map([...listing.owners, ...owners]), failures }
}

/** `find` deletes what a server has from the URIs that are left. */
async function findIn(
  clients: ReadonlyMap<string, Client>,
  uris: readonly string[],
  find: (client: Client, left: Set<string>) => Promise<void>,
): Promise<Owners> {
  const failures = new Map<string, unknown>()
  const owners = new Map<string, string[]>()
  const searched = [...clients].map(async ([server, client]) => {
    const left = new Set(uris)
    await find(client, left).catch((error: unknown) => {
      // A server without this list has nothing in it.
      if (!(error instanceof McpError && error.code === NO_METHOD)) failures.set(server, error)
    })
    return { server, left }
  })
  for (const { server, left } of await Promise.all(searched))
    for (const uri of uris) if (!left.has(uri)) owners.set(uri, [...(owners.get(uri) ?? []), server])
  return { owners, failures }
}

const NO_METHOD = -32601

function begins(template: string, uri: string): boolean {
  const variables = template.indexOf('{')
  return variables >= 0 && uri.startsWith(template.slice(0, variables))
}
