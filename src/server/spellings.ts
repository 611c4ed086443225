import { mcpError } from '../errors/error.ts'
import { URI_TOO_COSTLY } from '../errors/server.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'
import { Likeness, resembles } from '../uri-template/likeness.ts'
import { looseSpelling, type LooseUri } from '../uri-template/loose.ts'
import { isSameUri, usualSpelling } from '../uri-template/spelling.ts'
import type { UriTemplate } from '../uri-template/parse.ts'
import { spend, type Work } from '../uri-template/reach.ts'
import type { Context } from './context.ts'
import type { ResourceDefinition, TemplateDefinition } from './definitions.ts'
import type { List } from './lists.ts'
import { mayUse } from './visibility.ts'

type Resources = List<ResourceDefinition>

/** The most characters of URIs in one request. Those that may be spelt in another way count several times. */
const MAX_CHARS = 1_500_000
const PER_ODD = 8

/** The URI under which a resource is known, or else the usual spelling of this one. */
export function spellingOf(resources: Resources, uri: string): string {
  if (resources.registered.has(uri)) return uri
  const usual = usualSpelling(uri)
  if (resources.registered.size === 0) return usual
  return resources.alike(looseSpelling(uri)).find((key) => isSameUri(key, usual)) ?? usual
}

/** A URI that a template would serve, and the work that its request takes. */
interface LikeQuery {
  readonly uri: LooseUri
  /** The template that would serve it. */
  readonly by: UriTemplate
  readonly work: Work
}

/** The steps of work for each character of a URI, to spell it loosely and to read that. */
const PER_LOOSE = 20
const PER_LIKENESS = 40

/** Whether the caller may use every resource that a handler might take a URI for. A template must not read the others for it. */
export function mayUseAlike(resources: Resources, uri: LooseUri, context: Context, work: Work): boolean {
  if (resources.registered.size === 0) return true
  spend(work, uri.length * PER_LOOSE)
  return [...uri.all].every((loose) =>
    resources.alike(loose).every((key) => resources.find(key, context) !== undefined),
  )
}

/**
 * Whether the caller may use every restricted template whose URI a handler might take this one for. The templates come before the one
 * that would serve it.
 */
export function mayUseLike(
  usable: ReadonlyMap<string, TemplateDefinition>,
  restricted: readonly TemplateDefinition[],
  { uri, by, work }: LikeQuery,
  context: Context,
): boolean {
  if (restricted.length === 0) return true
  spend(work, uri.length * PER_LIKENESS)
  const likeness = new Likeness(uri, by)
  return restricted.every(({ key, template }) => {
    if (!resembles(template, likeness, work)) return true
    const item = usable.get(key)
    return item !== undefined && mayUse(item, context)
  })
}

/** Spells the URIs of a request as the server does, before middleware sees them. Those that are too long are rejected later. */
export function respell(
  { resources, templates }: { readonly resources: Resources; readonly templates: List<TemplateDefinition> },
  call: Call,
  longest: number,
): void {
  const { params } = call
  if (call.method.startsWith('resources/')) {
    const { uri } = params
    if (typeof uri !== 'string' || uri.length > longest) return
    const spelling = spellingOf(resources, uri)
    if (spelling !== uri) call.params = { ...params, uri: spelling }
  } else if (call.method === 'subscriptions/listen') {
    const { notifications } = params
    if (!isObject(notifications) || !Array.isArray(notifications['resourceSubscriptions'])) return
    const sent: readonly unknown[] = notifications['resourceSubscriptions']
    let left = MAX_CHARS
    const resourceSubscriptions = sent.map((uri) => {
      if (typeof uri !== 'string' || uri.length > longest) return uri
      if (left < 0) throw mcpError(URI_TOO_COSTLY, { count: templates.items.size })
      left -= uri.length + uri.replace(/[\0-$&-~]+/g, '').length * PER_ODD
      return spellingOf(resources, uri)
    })
    call.params = { ...params, notifications: { ...notifications, resourceSubscriptions } }
  }
}
