import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { pause } from './backoff.ts'
import type { Emitter, ClientEvents } from './events.ts'
import type { Link } from './link.ts'

export type Change = ClientEvents['change']

/** What to watch: lists by name, and single resources by URI. */
export interface Watched {
  readonly tools?: boolean
  readonly prompts?: boolean
  /** `true` for the list of resources, or the URIs of resources. */
  readonly resources?: boolean | readonly string[]
  readonly signal?: AbortSignal
}

const RELISTEN_MS = 1000

/** How many watch a resource over one link: the server counts all of them as one. */
const followers = new WeakMap<Link, Map<string, number>>()

/**
 * Every change of what is watched, until the loop that reads it ends. After a break in the connection everything that
 * is watched counts as changed, since nobody knows what was missed. Changes that nobody has read yet are told once.
 */
export async function* watch(
  link: Link,
  events: Emitter,
  watched: Watched,
): AsyncGenerator<Change, void, undefined> {
  const uris = Array.isArray(watched.resources) ? (watched.resources as readonly string[]) : []
  const waiting = new Map<string, Change>()
  let wake: () => void = () => undefined
  let listening: number | 'about to' | undefined
  let missed = false
  const stopped = new AbortController()
  const end = (): void => {
    stopped.abort()
    wake()
  }
  const push = (change: Change): void => {
    if (!isWanted(change, watched, uris)) return
    waiting.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change)
    wake()
  }
  const offs = [
    events.on('change', push),
    events.on('notification', ({ method, params }) => {
      if (method === ACKNOWLEDGED && missed && isOurs(params, listening)) caughtUp()
    }),
    events.on('state', (state) => {
      if (state === 'closed') end()
      if (state === 'reconnecting') void revive()
      if (state === 'ready') void resume()
    }),
  ]
  watched.signal?.addEventListener('abort', end, { once: true })
  if (watched.signal?.aborted === true) end()
  count(1)
  try {
    if (!stopped.signal.aborted) await follow()
    for (;;) {
      for (const [key, change] of waiting) {
        waiting.delete(key)
        yield change
      }
      if (stopped.signal.aborted) return
      if (waiting.size === 0) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    end()
    for (const off of offs) off()
    watched.signal?.removeEventListener('abort', end)
    await unfollow(count(-1))
  }

  /** Asks the server to tell of changes, in the way of the revision. */
  async function follow(): Promise<Revision> {
    const { revision } = await link.agreement()
    const { signal } = stopped
    if (revision === LATEST) void listen()
    else
      for (const uri of uris) await link.request('resources/subscribe', { uri }, { repeatable: true, signal })
    return revision
  }

  async function unfollow(left: readonly string[]): Promise<void> {
    if (link.state !== 'ready' || left.length === 0) return
    const { revision } = await link.agreement()
    if (revision === LATEST) return
    for (const uri of left) await link.request('resources/unsubscribe', { uri }).catch(() => undefined)
  }

  /** Counts who watches; gives back what nobody watches any more. */
  function count(by: 1 | -1): readonly string[] {
    const counts = followers.get(link) ?? new Map<string, number>()
    followers.set(link, counts)
    for (const uri of uris) counts.set(uri, (counts.get(uri) ?? 0) + by)
    const left = uris.filter((uri) => counts.get(uri) === 0)
    for (const uri of left) counts.delete(uri)
    return left
  }

  /** Opens the connection again, even when nobody sends a request. */
  async function revive(): Promise<void> {
    while (!stopped.signal.aborted && link.state === 'reconnecting') {
      const opened = await link.agreement().catch(() => undefined)
      if (opened === undefined) await pause(RELISTEN_MS, stopped.signal)
    }
  }

  async function resume(): Promise<void> {
    missed = true
    try {
      if ((await follow()) !== LATEST) caughtUp()
    } catch {
      // A connection that is lost again is opened again; a server that refuses now leaves the reader with what it knows.
      if (link.state === 'ready') caughtUp()
    }
  }

  function caughtUp(): void {
    missed = false
    everything(watched, uris).forEach(push)
  }

  /** Listens again whenever the stream ends, for as long as somebody reads. */
  async function listen(): Promise<void> {
    if (listening !== undefined) return
    listening = 'about to'
    const { signal } = stopped
    const onId = (id: number): void => void (listening = id)
    const notifications = filterOf(watched, uris)
    while (!signal.aborted) {
      try {
        if ((await link.agreement()).revision !== LATEST) break
        await link.request('subscriptions/listen', { notifications }, { signal, onId })
      } catch (error) {
        if (error instanceof McpError && FINAL.has(error.kind)) return end()
      }
      missed = true
      listening = 'about to'
      await pause(RELISTEN_MS, signal)
    }
    listening = undefined
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

function isOurs(params: JsonObject, listening: unknown): boolean {
  const id = (params['_meta'] as JsonObject | null | undefined)?.[META.subscriptionId]
  return id === undefined || id === listening
}

const FINAL: ReadonlySet<string> = new Set(['closed', 'unknown_method', 'bad_params', 'not_offered'])

function filterOf(watched: Watched, uris: readonly string[]): JsonObject {
  return {
    ...(watched.tools === true ? { toolsListChanged: true } : {}),
    ...(watched.prompts === true ? { promptsListChanged: true } : {}),
    ...(watched.resources === true ? { resourcesListChanged: true } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  }
}

function everything(watched: Watched, uris: readonly string[]): readonly Change[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((kind) => watched[kind] === true)
  return [...lists.map((kind) => ({ kind })), ...uris.map((uri) => ({ kind: 'resource' as const, uri }))]
}

function isWanted(change: Change, watched: Watched, uris: readonly string[]): boolean {
  if (change.kind !== 'resource') return watched[change.kind] === true
  return uris.some((uri) => change.uri === uri || change.uri.startsWith(uri.endsWith('/') ? uri : `${uri}/`))
}
