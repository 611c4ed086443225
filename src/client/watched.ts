import type { Duration } from '../base/duration.ts'
import { callable, DURATION, either, FLAG, listOf, SIGNAL, TEXT, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ClientEvents } from './events.ts'

/** A change that a server reports: of a list, or of the resource with this URI. */
export type Change = ClientEvents['change']

/** The lists and resources to watch. */
export interface Watched {
  /** Whether to watch the list of tools. Default: `false`. */
  readonly tools?: boolean | undefined
  /** Whether to watch the list of prompts. Default: `false`. */
  readonly prompts?: boolean | undefined
  /** `true` for the list of resources, or the URIs of resources. Default: `false`. A change below a URI counts as one of it. */
  readonly resources?: boolean | readonly string[] | undefined
  /**
   * Called once, when the server has confirmed that it reports changes: later ones are not missed, unlike earlier ones. Default:
   * it is not known when watching has begun.
   */
  readonly onReady?: (() => void) | undefined
  /** Ends the loop without an error. Default: only the loop itself ends it. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a subscription. */
export interface SubscribeOptions {
  /** How long to wait for the server to confirm it. Default: the `timeout` of the connection. */
  readonly timeout?: Duration | undefined
  /** Ends the subscription. Default: only the returned function does. */
  readonly signal?: AbortSignal | undefined
}

export const SUBSCRIBE_OPTIONS: KindsOf<SubscribeOptions> = { timeout: DURATION, signal: SIGNAL }

const WATCHED: KindsOf<Watched> = {
  tools: FLAG,
  prompts: FLAG,
  onReady: callable<() => void>(),
  resources: { ...either(FLAG, listOf(TEXT)), must: 'true, or a list of URIs' },
  signal: SIGNAL,
}

/** The most resources that are watched on one server, which is also what our servers allow. */
const MAX_RESOURCES = 1000

export function checkWatched(watched: Watched, servers: number = 1): void {
  checkOptions('watch', watched, WATCHED)
  const { length } = urisOf(watched)
  if (length > MAX_RESOURCES * Math.max(1, servers))
    throw badOption('watch', `name at most ${MAX_RESOURCES} resources for each server, or a parent of them`)
  if (Object.keys(filterOf(watched)).length > 0) return
  const reason = 'name what to watch, for example { tools: true } or { resources: [uri] }'
  throw badOption('watch', reason)
}

/** The URIs of the watched resources. */
export function urisOf({ resources }: Watched): readonly string[] {
  return Array.isArray(resources) ? (resources as readonly string[]) : []
}

/** The filter for `subscriptions/listen`. */
export function filterOf(watched: Watched): JsonObject {
  const uris = urisOf(watched)
  return {
    ...(watched.tools === true ? { toolsListChanged: true } : {}),
    ...(watched.prompts === true ? { promptsListChanged: true } : {}),
    ...(watched.resources === true ? { resourcesListChanged: true } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  }
}

/** One change for each watched list and resource. */
export function allChanges(watched: Watched): readonly Change[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((kind) => watched[kind] === true)
  return [
    ...lists.map((kind) => ({ kind })),
    ...urisOf(watched).map((uri) => ({ kind: 'resource' as const, uri })),
  ]
}
