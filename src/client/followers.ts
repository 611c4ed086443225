import type { ReconnectingConnection } from './reconnecting-connection.ts'

/** How many watch a resource over one link: the server counts all of them as one. */
const followers = new WeakMap<ReconnectingConnection, Map<string, number>>()

/** One more watches these resources. */
export function join(link: ReconnectingConnection, uris: readonly string[]): void {
  const counts = followers.get(link) ?? new Map<string, number>()
  followers.set(link, counts)
  for (const uri of uris) counts.set(uri, (counts.get(uri) ?? 0) + 1)
}

/** One less watches these resources; gives back those that nobody watches any more. */
export function leave(link: ReconnectingConnection, uris: readonly string[]): readonly string[] {
  const counts = followers.get(link) ?? new Map<string, number>()
  for (const uri of uris) counts.set(uri, (counts.get(uri) ?? 0) - 1)
  const left = uris.filter((uri) => (counts.get(uri) ?? 0) <= 0)
  for (const uri of left) counts.delete(uri)
  return left
}
