import type { Client } from '../../client/client.ts'
import type { CallOptions } from '../../client/options.ts'
import { firstFrom } from '../../client/within.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { nextTask } from '../../base/next-task.ts'
import { Joined, type Read } from './joined.ts'

/** The servers that may have each resource, and the errors of those that could not say. */
export interface Owners {
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly failures: ReadonlyMap<string, unknown>
}

/**
 * Finds the servers that list resources or, for those that none lists, the servers with a template that begins like them:
 * only the server itself can tell for sure. Each list is read once, with `limits` as its options, and together with others who look for
 * something in it with the same `joined`.
 */
export async function findOwners(
  clients: ReadonlyMap<string, Client>,
  uris: readonly string[],
  limits: () => CallOptions,
  joined: Joined = new Joined(),
): Promise<Owners> {
  const readings = { clients, limits, joined }
  const listing = await findIn(
    { ...readings, kind: 'resources', uris },
    async (client, wanted, options, add) => {
      const left = new Set(wanted)
      for await (const { uri } of client.resources(options)) {
        if (left.delete(uri)) add(uri)
        if (left.size === 0) return
      }
    },
  )
  const unlisted = uris.filter((uri) => !listing.owners.has(uri))
  if (unlisted.length === 0 || listing.failures.size > 0) return listing
  const templated = { ...readings, kind: 'templates', uris: unlisted }
  const { owners, failures } = await findIn(templated, async (client, wanted, options, add) => {
    const left = [...wanted].sort()
    let read = 0
    for await (const { uriTemplate } of client.templates(options)) {
      for (const uri of takeBeginning(left, uriTemplate)) add(uri)
      if (left.length === 0) return
      read += uriTemplate.length
      if (read < CHARS_OF_TURN) continue
      await nextTask()
      read = 0
    }
  })
  for (const [uri, servers] of owners) listing.owners.set(uri, servers)
  return { owners: listing.owners, failures }
}

/** The characters of templates after which others get a turn: engines search some texts very slowly. */
const CHARS_OF_TURN = 262_144

/**
 * Removes the URIs that begin like a template from a sorted list, and returns them. A server chooses how many templates and URIs
 * there are, so the list is not read for each template.
 */
function takeBeginning(sorted: string[], template: string): readonly string[] {
  const variables = template.indexOf('{')
  if (variables < 0) return []
  const beginning = template.slice(0, variables)
  const first = firstFrom(sorted, beginning)
  let end = first
  while (sorted[end]?.startsWith(beginning) === true) end++
  return end === first ? [] : sorted.splice(first, end - first)
}

interface Found {
  readonly owners: Map<string, string[]>
  readonly failures: Map<string, unknown>
}

interface Search {
  readonly clients: ReadonlyMap<string, Client>
  readonly kind: string
  readonly uris: readonly string[]
  readonly limits: () => CallOptions
  readonly joined: Joined
}

/** `find` calls `add` for each of the wanted URIs that a server has. */
async function findIn(
  { clients, kind, uris, limits, joined }: Search,
  find: (client: Client, ...rest: Parameters<Read>) => Promise<void>,
): Promise<Found> {
  const failures = new Map<string, unknown>()
  const owners = new Map<string, string[]>()
  const all = [...new Set(uris)]
  const searched = [...clients].map(async ([server, client]) => {
    const { found, error } = await joined
      .read(`${kind} ${server}`, all, limits, (...rest) => find(client, ...rest))
      .catch((thrown: Error) => ({ found: new Set<string>(), error: thrown }))
    const own = all.filter((uri) => found.has(uri))
    // A server without this list has nothing in it.
    const isWithout = error instanceof McpError && error.code === NO_METHOD
    if (error !== undefined && !isWithout && own.length < all.length) failures.set(server, error)
    return { server, found: own }
  })
  for (const { server, found } of await Promise.all(searched))
    for (const uri of found) {
      const servers = owners.get(uri)
      if (servers === undefined) owners.set(uri, [server])
      else servers.push(server)
    }
  return { owners, failures }
}

const NO_METHOD = -32601

/** The only server that has a resource. */
export function onlyOwner(where: string, uri: string, { owners: all, failures }: Owners): string {
  const owners = all.get(uri) ?? []
  const [owner] = owners
  if (owner !== undefined && owners.length === 1 && failures.size === 0) return owner
  const [cause] = failures.values()
  const reason =
    failures.size > 0
      ? `${[...failures.keys()].join(', ')} failed to list resources; name the server: { server: '…' }`
      : owner === undefined
        ? `no server lists it or has a template for it; name the server: { server: '…' }`
        : `${owners.join(', ')} have it; name one of them: { server: '${owner}' }`
  throw mcpError(BAD_OPTION, { where: `${where} "${uri.slice(0, 128)}"`, reason }, { cause })
}
