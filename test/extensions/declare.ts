import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import type { Client } from '../harness/client.ts'
import type { Stage } from '../harness/scenario.ts'

/** What a client declares to use extensions, where its revision has a place for it. */
export function declare(revision: Revision, ...ids: readonly string[]): JsonObject {
  const declared = Object.fromEntries(ids.map((id) => [id, {}]))
  return revision === '2026-07-28' ? { extensions: declared } : { experimental: declared }
}

/** Connects one more client, which declares extensions. */
export function joinWith({ join }: Stage, revision: Revision, ...ids: readonly string[]): Promise<Client> {
  return join({ capabilities: declare(revision, ...ids) })
}

/** What a server declares to a client. */
export async function declaredBy(client: Client): Promise<JsonObject> {
  if (client.hasSession) return client.opening['capabilities'] as JsonObject
  return (await client.request('server/discover'))['capabilities'] as JsonObject
}
