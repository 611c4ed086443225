import { onAbort } from '../../base/on-abort.ts'
import { warnOf, type Client } from '../../client/client.ts'
import { checkWatched, urisOf, type Change, type Watched } from '../../client/watched.ts'

interface Source {
  readonly server: string
  readonly changes: AsyncGenerator<Change, void, undefined>
  /** Called when the server ends, or fails with an error. */
  onEnd(error?: unknown): void
}

/**
 * Yields the changes of several servers; `ownersOf` names the server of each resource. A server that fails is left out; if all
 * of them fail, the first error is thrown. Each server has at most one change waiting here; the others wait in its client,
 * which bounds them.
 */
export async function* watchAll(
  clients: ReadonlyMap<string, Client>,
  watched: Watched,
  ownersOf: (uris: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): AsyncGenerator<Change & { readonly server: string }, void, undefined> {
  checkWatched(watched, clients.size)
  const parts = await split(clients, watched, ownersOf).catch((error: unknown) => {
    // A caller that stops watching early gets neither changes nor an error.
    if (watched.signal?.aborted !== true) throw error
    return new Map<string, Watched>()
  })
  const stop = new AbortController()
  const end = (): void => stop.abort()
  const remove = watched.signal && onAbort(watched.signal, end)
  const unconfirmed = new Set(parts.keys())
  let ready = 0
  const sources = [...parts].map(([server, part]): Source => {
    const client = clients.get(server) as Client
    // The group is ready when every server is, except those that failed.
    const settle = (count: number): void => {
      if (!unconfirmed.delete(server)) return
      ready += count
      if (unconfirmed.size > 0 || ready === 0 || stop.signal.aborted) return
      Promise.resolve()
        .then(watched.onReady)
        .catch((error: unknown) => warnOf(client, `onReady threw ${String(error)}`))
    }
    const changes = client.watch({ ...part, signal: stop.signal, onReady: () => settle(1) })
    const onEnd = (error?: unknown): void => {
      settle(0)
      if (error !== undefined)
        warnOf(client, `a loop of the group lacks the changes of "${server}": ${(error as Error).message}`)
    }
    return { server, changes, onEnd }
  })
  try {
    yield* merged(sources)
  } finally {
    end()
    remove?.()
    await Promise.allSettled(sources.map(({ changes }) => changes.return()))
  }
}

/** What to watch on each server: the lists of all, and each resource where it is. */
async function split(
  clients: ReadonlyMap<string, Client>,
  watched: Watched,
  ownersOf: (uris: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, Watched>> {
  const { resources, ...lists } = watched
  const watchesLists = lists.tools === true || lists.prompts === true || resources === true
  const all: Watched = resources === true ? { ...lists, resources } : lists
  const parts = new Map<string, Watched>(
    watchesLists ? [...clients.keys()].map((server) => [server, all]) : [],
  )
  const uris = urisOf(watched)
  const owners = uris.length === 0 ? new Map<string, string>() : await ownersOf(uris)
  const named = new Map<string, string[]>()
  for (const [uri, owner] of owners) {
    const own = named.get(owner)
    if (own === undefined) named.set(owner, [uri])
    else own.push(uri)
  }
  for (const [owner, own] of named) parts.set(owner, { ...lists, resources: own })
  return parts
}

async function* merged(
  sources: readonly Source[],
): AsyncGenerator<Change & { readonly server: string }, void, undefined> {
  const arrived: { readonly source: Source; readonly change: Change }[] = []
  const errors: unknown[] = []
  let open = sources.length
  let wake: () => void = () => undefined
  const pull = (source: Source): void => {
    const close = (error?: unknown): void => {
      open--
      source.onEnd(error)
    }
    void source.changes
      .next()
      .then(({ done, value }) => (done === true ? close() : arrived.push({ source, change: value })))
      .catch((error: unknown) => {
        errors.push(error)
        close(error)
      })
      .then(() => wake())
  }
  for (const source of sources) pull(source)
  while (open > 0) {
    const next = arrived.shift()
    if (next === undefined) await new Promise<void>((resolve) => (wake = resolve))
    else {
      yield { ...next.change, server: next.source.server }
      pull(next.source)
    }
  }
  if (sources.length > 0 && errors.length === sources.length) throw errors[0]
}
