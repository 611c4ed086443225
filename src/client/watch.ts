import { onAbort } from '../base/on-abort.ts'
import { orAborted } from '../base/backoff.ts'
import { guarded } from '../base/guarded.ts'
import { checkOptions } from '../base/options.ts'
import { ChangeQueue } from './change-queue.ts'
import type { Conversation } from './conversation.ts'
import { addWatcher, removeWatcher } from './followers.ts'
import { toRequestOptions } from './options.ts'
import {
  checkWatched,
  SUBSCRIBE_OPTIONS,
  urisOf,
  type Change,
  type SubscribeOptions,
  type Watched,
} from './watched.ts'
import { Watcher } from './watcher.ts'

/** The parts of a conversation that watchers use. */
type Heard = Pick<Conversation, 'connection' | 'events' | 'forget'>

/**
 * Yields changes of the watched lists and resources until the loop ends. After a reconnect everything watched counts as
 * changed, since notifications may have been missed. A change that is repeated before it is read is delivered once.
 * `early` has the changes that were reported while this code was loaded.
 */
export async function* watch(
  conversation: Heard,
  watched: Watched,
  early: Iterable<Change> = [],
): AsyncGenerator<Change, void, undefined> {
  checkWatched(watched)
  const { connection, events } = conversation
  let { onReady } = watched
  const queue = new ChangeQueue()
  const warn = (text: string): void => events.emit('warning', text)
  const onSubscribed = (): void => {
    // Not at once: a server in this process may still be about to listen for changes.
    Promise.resolve()
      .then(onReady)
      .catch((error: unknown) => warn(`onReady threw ${String(error)}`))
    onReady = undefined
  }
  const onStale = (change: Change): void => conversation.forget(change)
  const watcher = new Watcher(connection, watched, queue, { onSubscribed, onStale, warn })
  const uris = urisOf(watched)
  const end = (): void => queue.end()
  const removers = [
    events.on('change', (change) => watcher.onChange(change)),
    events.on('notification', (notification) => watcher.onNotification(notification)),
    events.on('missed', () => watcher.onMissed()),
    events.on('state', (state) => watcher.onState(state)),
  ]
  for (const change of early) watcher.onChange(change)
  if (watched.signal !== undefined) removers.push(onAbort(watched.signal, end))
  if (connection.state === 'closed') end()
  addWatcher(connection, uris)
  try {
    if (!queue.signal.aborted) await watcher.subscribe()
    yield* queue.read()
  } finally {
    end()
    for (const remove of removers) remove()
    await watcher.unsubscribe(removeWatcher(connection, uris))
  }
}

/**
 * Calls the listener for every change of a resource. Resolves when the server has confirmed the subscription, and
 * rejects if it does not do so in time.
 */
export async function subscribe(
  conversation: Heard,
  uri: string,
  listener: (change: Change) => void,
  options: SubscribeOptions,
): Promise<() => Promise<void>> {
  checkOptions('subscribe', options, SUBSCRIBE_OPTIONS)
  const { connection, events } = conversation
  const { signal } = options
  const stop = new AbortController()
  const end = (): void => stop.abort()
  const deadline = connection.deadline('subscribe', toRequestOptions(options))
  const { promise: subscribed, resolve: onReady } = withResolvers()
  const watching = (async () => {
    const watched = { resources: [uri], signal: stop.signal, onReady }
    for await (const change of watch(conversation, watched))
      guarded(
        () => listener(change),
        (error) => events.warn(uri, error),
      )
  })()
  try {
    await orAborted(Promise.race([subscribed, watching]), deadline.signal)
  } catch (error) {
    end()
    watching.catch(() => undefined)
    throw error
  } finally {
    deadline.end()
  }
  const remove = signal && onAbort(signal, end)
  watching
    .catch((error: unknown) => events.emit('warning', `watching ${uri} failed: ${String(error)}`))
    .finally(remove)
  return async () => {
    end()
    await watching.catch(() => undefined)
  }
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
