import { ChangeQueue } from './change-queue.ts'
import type { Emitter } from './events.ts'
import { join, leave } from './followers.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { checkWatched, urisOf, type Change, type Watched } from './watched.ts'
import { Watcher } from './watcher.ts'

/**
 * Every change of what is watched, until the loop that reads it ends. After a break in the connection everything that
 * is watched counts as changed, since nobody knows what was missed. Changes that nobody has read yet are told once.
 * `onBegun` is called when the server is known to tell of them.
 */
export async function* watch(
  link: ReconnectingConnection,
  events: Emitter,
  watched: Watched,
  onBegun: () => void = () => undefined,
): AsyncGenerator<Change, void, undefined> {
  checkWatched(watched)
  const queue = new ChangeQueue()
  const watcher = new Watcher(link, watched, queue, onBegun)
  const uris = urisOf(watched)
  const end = (): void => queue.end()
  const offs = [
    events.on('change', (change) => watcher.onChange(change)),
    events.on('notification', (notification) => watcher.onNotification(notification)),
    events.on('missed', () => watcher.onMissed()),
    events.on('state', (state) => watcher.onState(state)),
  ]
  watched.signal?.addEventListener('abort', end, { once: true })
  if (watched.signal?.aborted === true || link.state === 'closed') end()
  join(link, uris)
  try {
    if (!queue.signal.aborted) await watcher.follow()
    yield* queue.read()
  } finally {
    end()
    for (const off of offs) off()
    watched.signal?.removeEventListener('abort', end)
    await watcher.unfollow(leave(link, uris))
  }
}

/** Calls back on every change of a resource, beginning when the server is known to tell of them; gives back what ends it. */
export async function subscribe(
  link: ReconnectingConnection,
  events: Emitter,
  uri: string,
  listener: (change: Change) => void,
): Promise<() => Promise<void>> {
  const stop = new AbortController()
  const { promise: begun, resolve: onBegun } = withResolvers()
  const watching = (async () => {
    for await (const change of watch(link, events, { resources: [uri], signal: stop.signal }, onBegun))
      listener(change)
  })()
  await Promise.race([begun, watching])
  watching.catch((error: unknown) => events.emit('warning', `watching ${uri} failed: ${String(error)}`))
  return async () => {
    stop.abort()
    await watching.catch(() => undefined)
  }
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
