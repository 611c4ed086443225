import type { Client } from '../../client/client.ts'
import type { CallOptions } from '../../client/options.ts'
import { McpError } from '../../errors/error.ts'

/** The servers that may have a resource, and the errors of those that could not say. */
export interface Owners {
  readonly owners: readonly string[]
  readonly failures: ReadonlyMap<string, unknown>
}

/**
 * Finds the servers that list a resource or, if none does, those with a template that begins like it: only the server
 * itself can tell for sure. `limits` are the options of each list.
 */
export async function findOwners(
  clients: ReadonlyMap<string, Client>,
  uri: string,
  limits: () => CallOptions,
): Promise<Owners> {
  const listing = await findIn(clients, (client) =>
    hasAny(client.resources(limits()), (one) => one.uri === uri),
  )
  if (listing.owners.length + listing.failures.size > 0) return listing
  return findIn(clients, (client) =>
    hasAny(client.templates(limits()), ({ uriTemplate }) => begins(uriTemplate, uri)),
  )
}

async function findIn(
  clients: ReadonlyMap<string, Client>,
  has: (client: Client) => Promise<boolean>,
): Promise<Owners> {
  const failures = new Map<string, unknown>()
  const found = [...clients].map(async ([server, client]) => {
    try {
      return (await has(client)) ? [server] : []
    } catch (error) {
      // A server without this list has nothing in it.
      if (!(error instanceof McpError && error.code === NO_METHOD)) failures.set(server, error)
      return []
    }
  })
  return { owners: (await Promise.all(found)).flat(), failures }
}

const NO_METHOD = -32601

async function hasAny<Item>(items: AsyncIterable<Item>, is: (item: Item) => boolean): Promise<boolean> {
  for await (const item of items) if (is(item)) return true
  return false
}

function begins(template: string, uri: string): boolean {
  const variables = template.indexOf('{')
  return variables >= 0 && uri.startsWith(template.slice(0, variables))
}
