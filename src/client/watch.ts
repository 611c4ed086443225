import { ChangeQueue } from './change-queue.ts'
import type { Emitter } from './events.ts'
import { addWatcher, removeWatcher } from './followers.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import { checkWatched, urisOf, type Change, type Watched } from './watched.ts'
import { Watcher } from './watcher.ts'

/**
 * Yields changes of the watched lists and resources until the loop ends. After a reconnect everything watched counts as
 * changed, since notifications may have been missed. A change that is repeated before it is read is delivered once.
 * `onSubscribed` is called when the server has confirmed the subscription.
 */
export async function* watch(
  connection: ReconnectingConnection,
  events: Emitter,
  watched: Watched,
  onSubscribed: () => void = () => undefined,
): AsyncGenerator<Change, void, undefined> {
  checkWatched(watched)
  const queue = new ChangeQueue()
  const warn = (text: string): void => events.emit('warning', text)
  const watcher = new Watcher(connection, watched, queue, onSubscribed, warn)
  const uris = urisOf(watched)
  const end = (): void => queue.end()
  const removers = [
    events.on('change', (change) => watcher.onChange(change)),
    events.on('notification', (notification) => watcher.onNotification(notification)),
    events.on('missed', () => watcher.onMissed()),
    events.on('state', (state) => watcher.onState(state)),
  ]
  watched.signal?.addEventListener('abort', end, { once: true })
  if (watched.signal?.aborted === true || connection.state === 'closed') end()
  addWatcher(connection, uris)
  try {
    if (!queue.signal.aborted) await watcher.subscribe()
    yield* queue.read()
  } finally {
    end()
    for (const remove of removers) remove()
    watched.signal?.removeEventListener('abort', end)
    await watcher.unsubscribe(removeWatcher(connection, uris))
  }
}

/** Calls the listener for every change of a resource. Resolves when the server has confirmed the subscription. */
export async function subscribe(
  connection: ReconnectingConnection,
  events: Emitter,
  uri: string,
  listener: (change: Change) => void,
): Promise<() => Promise<void>> {
  const stop = new AbortController()
  const { promise: subscribed, resolve: onSubscribed } = withResolvers()
  const watching = (async () => {
    for await (const change of watch(
      connection,
      events,
      { resources: [uri], signal: stop.signal },
      onSubscribed,
    ))
      listener(change)
  })()
  await Promise.race([subscribed, watching])
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
