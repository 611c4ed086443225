import type { Client } from '../../client/client.ts'
import type { Change, Watched } from '../../client/watched.ts'

/** What to watch on one server. */
export interface WatchedServer {
  readonly server: string
  readonly client: Client
  readonly watched: Watched
}

interface Source {
  readonly server: string
  readonly changes: AsyncGenerator<Change, void, undefined>
}

/**
 * Yields the changes of several servers. A server that fails is left out; if all of them fail, the first error is
 * thrown. Each server has at most one change waiting here; the others wait in its client, which bounds them.
 */
export async function* watchAll(
  wanted: readonly WatchedServer[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Change & { readonly server: string }, void, undefined> {
  const stop = new AbortController()
  const end = (): void => stop.abort()
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted === true) end()
  const sources = wanted.map(({ server, client, watched }): Source => {
    return { server, changes: client.watch({ ...watched, signal: stop.signal }) }
  })
  const arrived: { readonly source: Source; readonly change: Change }[] = []
  const errors: unknown[] = []
  let open = sources.length
  let wake: () => void = () => undefined
  const pull = (source: Source): void => {
    const close = (): void => void open--
    void source.changes
      .next()
      .then(({ done, value }) => (done === true ? close() : arrived.push({ source, change: value })))
      .catch((error: unknown) => {
        errors.push(error)
        close()
      })
      .then(() => wake())
  }
  for (const source of sources) pull(source)
  try {
    while (open > 0) {
      const next = arrived.shift()
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else {
        yield { ...next.change, server: next.source.server }
        pull(next.source)
      }
    }
    if (sources.length > 0 && errors.length === sources.length) throw errors[0]
  } finally {
    end()
    signal?.removeEventListener('abort', end)
    await Promise.allSettled(sources.map(({ changes }) => changes.return()))
  }
}
