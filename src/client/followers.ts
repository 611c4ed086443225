import type { ReconnectingConnection } from './reconnecting-connection.ts'

/** How many watchers of a connection watch each resource. The server has one subscription for all of them. */
const watchers = new WeakMap<ReconnectingConnection, Map<string, number>>()

/** Counts one more watcher of these resources. */
export function addWatcher(connection: ReconnectingConnection, uris: readonly string[]): void {
  const counts = watchers.get(connection) ?? new Map<string, number>()
  watchers.set(connection, counts)
  for (const uri of uris) counts.set(uri, (counts.get(uri) ?? 0) + 1)
}

export function isWatched(connection: ReconnectingConnection, uri: string): boolean {
  return watchers.get(connection)?.has(uri) === true
}

/** Counts one watcher less. Returns the resources that no longer have any. */
export function removeWatcher(
  connection: ReconnectingConnection,
  uris: readonly string[],
): readonly string[] {
  const counts = watchers.get(connection) ?? new Map<string, number>()
  for (const uri of uris) counts.set(uri, (counts.get(uri) ?? 0) - 1)
  const unwatched = uris.filter((uri) => (counts.get(uri) ?? 0) <= 0)
  for (const uri of unwatched) counts.delete(uri)
  return unwatched
}
