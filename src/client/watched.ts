import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ClientEvents } from './events.ts'
import { isWithin } from './within.ts'

export type Change = ClientEvents['change']

/** What to watch: lists by name, and single resources by URI. */
export interface Watched {
  readonly tools?: boolean
  readonly prompts?: boolean
  /** `true` for the list of resources, or the URIs of resources. */
  readonly resources?: boolean | readonly string[]
  readonly signal?: AbortSignal
}

/** Refuses what cannot be watched. */
export function checkWatched(watched: Watched): void {
  checkOptions('watch', watched, ['tools', 'prompts', 'resources', 'signal'])
  if (typeof watched.resources === 'string')
    throw mcpError(BAD_OPTION, { where: 'watch', reason: 'resources must be true, or a list of URIs' })
}

/** The resources that are watched one by one. */
export function urisOf({ resources }: Watched): readonly string[] {
  return Array.isArray(resources) ? (resources as readonly string[]) : []
}

/** What is watched, as a request to listen says it. */
export function filterOf(watched: Watched): JsonObject {
  const uris = urisOf(watched)
  return {
    ...(watched.tools === true ? { toolsListChanged: true } : {}),
    ...(watched.prompts === true ? { promptsListChanged: true } : {}),
    ...(watched.resources === true ? { resourcesListChanged: true } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  }
}

/** A change of each thing that is watched. */
export function everything(watched: Watched): readonly Change[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((kind) => watched[kind] === true)
  return [
    ...lists.map((kind) => ({ kind })),
    ...urisOf(watched).map((uri) => ({ kind: 'resource' as const, uri })),
  ]
}

/** Whether a change is of something that is watched. */
export function isWanted(change: Change, watched: Watched): boolean {
  if (change.kind !== 'resource') return watched[change.kind] === true
  return urisOf(watched).some((uri) => isWithin(change.uri, uri))
}
