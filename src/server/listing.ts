import { endOfTurn, nextTurn } from '../base/turn.ts'
import { asSent } from '../base/as-sent.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_CURSOR, BAD_DEFINITION } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import { callOf, partsOf, type Context } from './context.ts'
import { ageOf, readCursor, writeCursor, type Position } from './cursors.ts'
import type { ResourceDefinition, TemplateDefinition } from './definitions.ts'
import type { List, ListOptions } from './lists.ts'
import { toListed, type ListedResource } from './register-resource.ts'
import { missingScopes } from './scopes.ts'
import { rethrown } from './settle.ts'
import { isVisible } from './visibility.ts'

export interface ListingParts extends ListOptions {
  readonly resources: List<ResourceDefinition>
  readonly templates: List<TemplateDefinition>
}

type ListingTemplate = TemplateDefinition & { readonly list: NonNullable<TemplateDefinition['list']> }

interface Entry extends Position {
  readonly descriptor: JsonObject
}

/** Whether a template lists resources. */
export function isListing(template: TemplateDefinition): template is ListingTemplate {
  return template.list !== undefined
}

/**
 * `resources/list` if templates list resources too. Resources and those of a template come in the order of registration.
 * Pages are for one caller and not cached: functions of the server decide what is on them.
 */
export async function listResources(
  parts: ListingParts,
  wrapped: boolean,
  context: Context,
): Promise<Result> {
  const { pageSize, ttlMs, limits } = parts
  const start = readCursor('resources', context, limits)
  let isReached = start.place === 0
  const page: Page = { parts, start, entries: [], end: endOfTurn() }
  const { entries } = page
  const sources = sourcesOf(parts)
  // One more than fits shows that another page follows.
  for (let at = indexOf(sources, start.place); at < sources.length && entries.length <= pageSize; at++) {
    const source = sources[at] as Source
    if (!isVisible(source, context)) continue
    isReached = true
    if ('list' in source) {
      await rethrown(context, `the list of resource "${source.key}"`, () => collect(source, page, context))
    } else if (source.place > start.place) {
      entries.push({ place: source.place, nth: 0, descriptor: source.descriptor })
    }
  }
  // As in other lists, only what the caller sees decides.
  if (!isReached) throw mcpError(BAD_CURSOR, {})
  const shown = entries.slice(0, pageSize)
  const last = shown.at(-1)
  const more = last !== undefined && entries.length > pageSize
  const result = {
    resources: shown.map(({ descriptor }) => descriptor),
    ...(more ? { nextCursor: writeCursor('resources', last, ageOf(limits)) } : {}),
    ttlMs,
    cacheScope: 'private',
  }
  return wrapped ? asSent(result) : result
}

type Source = ResourceDefinition | ListingTemplate

interface Sources {
  /** What the lists were when this was made. */
  readonly versions: readonly [resources: number, templates: number]
  readonly sorted: readonly Source[]
}

const known = new WeakMap<ListingParts, Sources>()

/** What the list consists of, in order; sorted once after each change. */
function sourcesOf(parts: ListingParts): readonly Source[] {
  const { resources, templates } = parts
  const kept = known.get(parts)
  if (kept?.versions[0] === resources.version && kept.versions[1] === templates.version) return kept.sorted
  const listing = [...templates.items.values()].filter(isListing)
  const sorted = [...resources.items.values(), ...listing].sort((one, other) => one.place - other.place)
  known.set(parts, { versions: [resources.version, templates.version], sorted })
  return sorted
}

/** The index of the first one at a place or after it. */
function indexOf(sources: readonly Source[], place: number): number {
  let [from, to] = [0, sources.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((sources[middle] as Source).place < place) from = middle + 1
    else to = middle
  }
  return from
}

interface Page {
  readonly parts: ListingParts
  readonly start: Position
  readonly entries: Entry[]
  /** When others must have a turn. */
  end: number
}

/** Adds the resources of a template to a page, unless the caller lacks its scopes: their names may say as much as they do. */
async function collect(template: ListingTemplate, page: Page, context: Context): Promise<void> {
  const { parts, start, entries } = page
  const { place, scopes } = template
  const { resources, pageSize, limits } = parts
  const skipped = place === start.place ? start.nth : 0
  if (scopes !== undefined && missingScopes(template, scopes, context).length > 0) return
  const listed = toEntries(template, await template.list(context))
  const isSync = Symbol.iterator in listed
  // Any cursor may skip many entries, so skipping must not cost much.
  let nth = isSync ? skipped : 0
  for await (const entry of isSync ? after(listed, skipped) : listed) {
    if ((nth >= skipped || nth % SKIPPED_AT_ONCE === 0) && performance.now() > page.end)
      page.end = await nextTurn()
    if (callOf(context).aborted) throw context.signal.reason
    if (entry === PAUSE) continue
    if (++nth > limits.listed) return warn(template, limits.listed, context)
    if (nth <= skipped) continue
    const descriptor = toListed(template, entry, nth)
    // Reading gives the exact resource, so the list shows that one.
    const exact = resources.items.get(descriptor.uri)
    if (exact === undefined || !isVisible(exact, context)) entries.push({ place, nth, descriptor })
    if (entries.length > pageSize) return
  }
}

/** How many entries are skipped before others may have a turn. */
const SKIPPED_AT_ONCE = 64
const PAUSE = Symbol('pause')

/** The entries after the first ones, and a chance to pause now and then while these are skipped. */
function* after(
  listed: Iterable<ListedResource>,
  skipped: number,
): Generator<ListedResource | typeof PAUSE, void> {
  if (Array.isArray(listed)) {
    for (let at = skipped; at < listed.length; at++) yield listed[at] as ListedResource
    return
  }
  let nth = 0
  for (const entry of listed) {
    if (nth++ >= skipped) yield entry
    else if (nth % SKIPPED_AT_ONCE === 0) yield PAUSE
  }
}

type Entries = Iterable<ListedResource> | AsyncIterable<ListedResource>

function toEntries({ key }: TemplateDefinition, listed: unknown): Entries {
  if (typeof listed === 'object' && listed !== null) {
    if (Symbol.iterator in listed || Symbol.asyncIterator in listed) return listed as Entries
  }
  const reason = 'list must return a list, or yield one after the other, of { variables: { … }, title, … }'
  throw mcpError(BAD_DEFINITION, { item: `resource "${key}"`, reason })
}

const warned = new WeakSet<TemplateDefinition>()

function warn(template: TemplateDefinition, limit: number, context: Context): void {
  if (warned.has(template)) return
  warned.add(template)
  const more = `resource "${template.key}" lists more than ${limit} resources (limits.listed)`
  partsOf(context).report('warning', `${more}; the others are left out`)
}
