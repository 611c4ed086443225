import { BYTES, toBase64 } from '../protocol/content.ts'
import { clip } from '../base/clip.ts'
import { nearest } from '../base/nearest.ts'
import { mcpError } from '../errors/error.ts'
import { UNKNOWN_RESOURCE, URI_TOO_COSTLY, URI_TOO_LONG } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import { decodedFully, LooseUri } from '../uri-template/loose.ts'
import { match, toSubject, type Subject } from '../uri-template/match.ts'
import { toPlainTest } from '../uri-template/plain.ts'
import type { UriTemplate } from '../uri-template/parse.ts'
import { spend, type Work } from '../uri-template/reach.ts'
import { partsOf, type Context } from './context.ts'
import type { ResourceDefinition, TemplateDefinition } from './definitions.ts'
import type { List } from './lists.ts'
import { rethrown, settled } from './settle.ts'
import { mayUseAlike, mayUseLike } from './spellings.ts'
import { isRestricted, mayUse } from './visibility.ts'

interface ServerLists {
  readonly resources: List<ResourceDefinition>
  readonly templates: List<TemplateDefinition>
}

export interface ResourceLists extends ServerLists {
  readonly ttlMs: number
}

type Variables = Readonly<Record<string, string | string[]>>

/** `resources/read`: finds the matching resource or template, runs it and builds the result. */
export async function readResource(lists: ResourceLists, context: Context): Promise<Result> {
  const uri = readUri(context)
  const found = findResource(lists, uri, context)
  if (found === undefined)
    throw unknownResource(uri, nearest(uri, lists.resources.seenBy(context, MAX_SUGGESTED)))
  return settled(context, async () => {
    const value = await rethrown(context, `resource "${uri}"`, () =>
      found.resource.read(found.variables, context),
    )
    if (value === undefined || value === null) {
      // For a template it is the usual way to say that there is no such resource.
      if (value === undefined && found.resource.key === uri)
        partsOf(context).warnOnce('resource', uri, nothingRead(uri))
      throw unknownResource(uri)
    }
    const whole = toContents(value, uri, found.resource.mimeType)
    return { ...whole, ...cachingOf(whole, lists.ttlMs, isRestricted(found.resource)) }
  })
}

/** The caching hints of a result, from its handler, if they are valid. A shared cache would not ask who may see it. */
function cachingOf({ ttlMs, cacheScope }: JsonObject, usualMs: number, isPrivate: boolean): JsonObject {
  return {
    ttlMs: Number.isSafeInteger(ttlMs) && (ttlMs as number) >= 0 ? ttlMs : usualMs,
    cacheScope: cacheScope === 'public' && !isPrivate ? 'public' : 'private',
  }
}

/** How many URIs a wrong one is compared with. URIs are long, and any caller may send wrong ones. */
const MAX_SUGGESTED = 100

/**
 * The steps of work that one request may take to find resources: some, and more for each character of its URIs and for each template, which
 * takes that much even if its first characters differ. A step takes a few nanoseconds.
 */
const MIN_STEPS = 400_000
const STEPS_PER_CHAR = 200
const STEPS_PER_TEMPLATE = 200
const MAX_STEPS = 16_000_000

/** The work to find the resources of some URIs of a request. */
export function toWork(lists: ServerLists, uris: readonly string[]): Work {
  const chars = uris.reduce((sum, uri) => sum + uri.length, 0)
  const own = lists.templates.registered.size * STEPS_PER_TEMPLATE
  const most = Math.min(MIN_STEPS + own + chars * STEPS_PER_CHAR, MAX_STEPS)
  const check = (): void => {
    if (work.steps > most) throw mcpError(URI_TOO_COSTLY, { count: lists.templates.items.size })
  }
  const work: Work = { steps: 0, check }
  return work
}

/** The steps of work for each character of a URI that is read. */
const PER_READ = 10

/** The resource with this URI, if the caller may use it, and the variables of its template. Several URIs of a request share their work. */
export function findResource(
  lists: ResourceLists,
  uri: string,
  context: Context,
  shared?: Work,
): { readonly resource: ResourceDefinition; readonly variables: Variables } | undefined {
  if (lists.resources.registered.has(uri)) {
    const exact = lists.resources.find(uri, context)
    return exact && { resource: exact, variables: {} }
  }
  const templates = lists.templates.items
  if (templates.size === 0) return undefined
  const work = shared ?? toWork(lists, [uri])
  spend(work, uri.length * PER_READ)
  const subject = toSubject(uri)
  if (subject === undefined) return undefined
  const loose = new LooseUri(uri)
  if (!mayUseAlike(lists.resources, loose, context, work)) return undefined
  /** The restricted templates before, which do not have exactly this URI. */
  const earlier: TemplateDefinition[] = []
  for (const template of lists.templates.registered.values()) {
    const usable = templates.get(template.key)
    const variables = readVariables(template.template, subject, work)
    if (variables === undefined) {
      if (isForFew(usable)) earlier.push(template)
      continue
    }
    // A later template must not serve what this one keeps from the caller.
    if (usable === undefined || !mayUse(usable, context)) return undefined
    const query = { uri: loose, by: template.template, work }
    return mayUseLike(templates, earlier, query, context) ? { resource: usable, variables } : undefined
  }
  return undefined
}

/** The steps of work for each character of a URI whose values are checked. */
const PER_CHECKED = 10

/** The variables with which a template serves a URI; undefined if it does not. */
function readVariables(template: UriTemplate, subject: Subject, work: Work): Variables | undefined {
  const variables = match(template, subject, work)
  if (variables === undefined) return undefined
  spend(work, subject.text.length * PER_CHECKED)
  if (climbs(subject.text, template.text, variables)) return undefined
  return startsAnew(template, variables) ? undefined : variables
}

const PLAIN = new WeakMap<UriTemplate, (uri: string) => boolean>()

/** Whether a template serves a URI, as `readVariables` says. Most URIs are so plain that it need not be asked. */
export function serves(template: UriTemplate, uri: string): boolean {
  let isPlain = PLAIN.get(template)
  if (isPlain === undefined) PLAIN.set(template, (isPlain = toPlainTest(template)))
  if (isPlain(uri) && !restartsAtRoot(uri)) return true
  const subject = toSubject(uri)
  return subject !== undefined && readVariables(template, subject, { steps: 0 }) !== undefined
}

/** Whether a part of a path, which cannot contain a `/` as it is, is an absolute path all the same, in encoded characters. */
function startsAnew({ parts }: UriTemplate, variables: Variables): boolean {
  return parts.some(
    (part) =>
      typeof part !== 'string' &&
      !part.operator.keepReserved &&
      !part.operator.named &&
      part.variables.some(({ name }) =>
        [variables[name] ?? []].flat().some((value) => ABSOLUTE.test(decodedFully(value))),
      ),
  )
}

/** A path from the root, perhaps of a drive, or a URL; parsers of URLs ignore what is blank before it. */
const ABSOLUTE = /^\s*(?:(?:[a-z][a-z0-9+.-]*:)?[\\/]|file:)/i

/** Whether a resource or template has this URI, disabled or not. */
export function isDefined({ resources, templates }: ServerLists, uri: string): boolean {
  if (resources.registered.has(uri)) return true
  const subject = templates.registered.size === 0 ? undefined : toSubject(uri)
  if (subject === undefined) return false
  for (const { template } of templates.registered.values())
    if (match(template, subject, { steps: 0 })) return true
  return false
}

/** The warning for a change of a resource that does not exist. */
export function noSuchResource({ resources, templates }: ServerLists, uri: string): string {
  const known = [...resources.registered.keys(), ...templates.registered.keys()]
  const meant = nearest(uri, known) ?? known[0]
  const remedy = meant === undefined ? 'define it first' : `pass the URI of one, such as "${meant}"`
  const problem = `updated("${clip(uri, 512)}"): no resource or template has this URI`
  return `${problem}, so only clients that watch a parent of it are notified; ${remedy}`
}

/** The warning for a change of a resource whose URI is too long. */
export function tooLongToNotify(uri: string, limit: number): string {
  const problem = `updated("${clip(uri, 64)}"): the URI is longer than ${limit} characters, so nobody is notified`
  return `${problem}; use a shorter one, or raise limits.uriLength`
}

/** Whether what serves a URI is restricted or disabled. The first template that has it keeps it from the others. */
export function isForSome({ resources, templates }: ServerLists, uri: string): boolean {
  if (resources.registered.has(uri)) return isForFew(resources.items.get(uri))
  const subject = toSubject(uri)
  if (subject === undefined) return false
  for (const { key, template } of templates.registered.values())
    if (match(template, subject, { steps: 0 })) return isForFew(templates.items.get(key))
  return false
}

function isForFew(item: ResourceDefinition | undefined): boolean {
  return item === undefined || isRestricted(item)
}

/**
 * Whether a variable leaves its folder or a file URI restarts at the root, which is dangerous because handlers build paths from
 * them. Variables that are harmless alone may leave it together with the text between them, so the decoded URI counts too.
 */
function climbs(uri: string, template: string, variables: Variables): boolean {
  const values = Object.values(variables).flat()
  if (values.some((value) => countClimbs(value) > 0 || CONTROL.test(value))) return true
  return countClimbs(uri) > countClimbs(template) || restartsAtRoot(uri)
}

/** Parsers of URLs drop some control characters, so that the text around them comes together. */
// oxlint-disable-next-line no-control-regex -- control characters are what it finds
const CONTROL = /[\0-\x1f]/

function restartsAtRoot(uri: string): boolean {
  return /^file:\/\/.*[\\/]\s*[\\/]/is.test(uri)
}

/** The steps out of a folder, also of a path behind a scheme or drive, or before a query. Handlers may decode a path again. */
function countClimbs(path: string): number {
  const decoded = decodedFully(path)
  // Most paths have none, and a URI may have thousands of steps.
  if (!decoded.includes('..')) return 0
  return decoded.split(/[\\/:?#]/).filter((step) => step.trim() === '..').length
}

/** The `uri` of a request about one resource. */
export function readUri(context: Context): string {
  const { uri } = context.params
  if (typeof uri !== 'string' || uri === '')
    throw mcpError(BAD_PARAMS, { method: context.method, reason: 'uri must be a string' })
  checkUriLength(uri, context)
  return uri
}

/** Rejects URIs beyond the length limit. */
export function checkUriLength(uri: string, context: Context): void {
  const { uriLength } = partsOf(context).limits
  if (uri.length > uriLength) throw mcpError(URI_TOO_LONG, { limit: uriLength })
}

export function unknownResource(uri: string, meant?: string): Error {
  const shown = { uri: clip(uri, 512) }
  const suggested = meant === undefined ? '' : `; did you mean "${meant}"?`
  return mcpError(UNKNOWN_RESOURCE, { ...shown, nearest: suggested }, { data: shown })
}

function nothingRead(uri: string): string {
  const problem = `resource "${uri}" returned undefined, so clients are told that it does not exist`
  return `${problem}; return text, bytes or a value (is a return missing?)`
}

function toContents(value: unknown, uri: string, mimeType: string | undefined): JsonObject {
  const contents = isObject(value) ? value['contents'] : undefined
  if (Array.isArray(contents))
    return { ...(value as JsonObject), contents: contents.map((one) => toOne(one, uri, mimeType)) }
  if (Array.isArray(value) && value.every(isContents))
    return { contents: value.map((one) => toOne(one, uri, mimeType)) }
  return { contents: [toOne(value, uri, mimeType)] }
}

function toOne(value: unknown, uri: string, mimeType: string | undefined): JsonObject {
  const type = mimeType === undefined ? {} : { mimeType }
  if (typeof value === 'string') return { uri, ...type, text: value }
  if (value instanceof Uint8Array) return { uri, mimeType: mimeType ?? BYTES, blob: toBase64(value) }
  if (isContents(value)) {
    const { blob } = value
    if (blob === undefined) return { uri, ...type, ...value }
    return { uri, mimeType: mimeType ?? BYTES, ...value, blob: toBase64(blob) }
  }
  return { uri, mimeType: mimeType ?? 'application/json', text: JSON.stringify(value) }
}

function isContents(
  value: unknown,
): value is { readonly text?: string; readonly blob?: string | Uint8Array } {
  if (!isObject(value)) return false
  if ('text' in value)
    return typeof value['text'] === 'string' && Object.keys(value).every((key) => CONTENTS.has(key))
  return 'blob' in value && (typeof value['blob'] === 'string' || value['blob'] instanceof Uint8Array)
}

const CONTENTS = new Set(['uri', 'mimeType', 'text', 'blob', '_meta'])
