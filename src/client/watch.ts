import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
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
    events.on('state', (state) => {
      if (state === 'closed') end()
      if (state === 'ready') void follow().then(() => everything(watched, uris).forEach(push))
    }),
  ]
  watched.signal?.addEventListener('abort', end, { once: true })
  try {
    await follow()
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
    await unfollow()
  }

  /** Asks the server to tell of changes, in the way of the revision. */
  async function follow(): Promise<void> {
    const { revision } = await link.agreement()
    if (revision === LATEST) return void listen()
    for (const uri of uris) await link.request('resources/subscribe', { uri }, { repeatable: true })
  }

  async function unfollow(): Promise<void> {
    if (link.state !== 'ready' || uris.length === 0) return
    const { revision } = await link.agreement()
    if (revision === LATEST) return
    for (const uri of uris) await link.request('resources/unsubscribe', { uri }).catch(() => undefined)
  }

  /** Listens again whenever the stream ends, for as long as somebody reads. */
  async function listen(): Promise<void> {
    for (let first = true; !stopped.signal.aborted; first = false) {
      if (!first) {
        await new Promise<void>((resolve) => setTimeout(resolve, RELISTEN_MS))
        everything(watched, uris).forEach(push)
      }
      try {
        await link.request(
          'subscriptions/listen',
          { notifications: filterOf(watched, uris) },
          { signal: stopped.signal },
        )
      } catch (error) {
        if (error instanceof McpError && FINAL.has(error.kind)) return end()
      }
    }
  }
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
