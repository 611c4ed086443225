import { clip } from '../base/clip.ts'
import { callable, NUMBER, object, required, TEXT, type KindsOf } from '../base/kinds.ts'
import { checkOptions, checkWord } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { FREE_ANNOTATIONS } from '../protocol/meta.ts'
import { expand } from '../uri-template/expand.ts'
import { parseTemplate } from '../uri-template/parse.ts'
import { usualTemplate } from '../uri-template/spelling.ts'
import type { ValuesOf } from '../uri-template/variables.ts'
import type { Context } from './context.ts'
import type { ResourceDefinition, TemplateDefinition } from './definitions.ts'
import {
  badDefinition,
  checkArguments,
  checkMeta,
  describe,
  ITEM_OPTIONS,
  toItem,
  type ItemOptions,
} from './register.ts'
import { serves } from './resources.ts'

/** Official annotations are sent as such; all others go into `_meta`. */
export interface ResourceAnnotations {
  /** The intended readers of the resource; the protocol defines `user` and `assistant`. Default: not sent. */
  readonly audience?: readonly ('user' | 'assistant' | (string & {}))[] | undefined
  /** How important the resource is to the server, from 0 (optional) to 1 (required). Default: not sent. */
  readonly priority?: number | undefined
  /** When the resource last changed, in ISO 8601 form, such as `2026-07-28T12:00:00Z`. Default: not sent. */
  readonly lastModified?: string | undefined
  /** Annotations of your own. */
  readonly [name: string]: unknown
}

/** The options of `app.resource`. */
export interface ResourceOptions<Ctx = Context, Uri extends string = string> extends ItemOptions<Ctx> {
  /** The name for programs. Default: the last part of the URI. */
  readonly name?: string | undefined
  /** The type of the content. Default: none for text, `application/octet-stream` for bytes, `application/json` for other values. */
  readonly mimeType?: string | undefined
  /** The size in bytes, which clients may show. Templates have none. Default: not sent. */
  readonly size?: number | undefined
  /** The intended readers of the resource, its importance, and the time of its last change. Default: not sent. */
  readonly annotations?: ResourceAnnotations | undefined
  /**
   * Lists resources of a template, so that they are part of `resources/list`. It runs for every page, with the context of
   * the caller, and may be async or a generator, which runs only as far as the page needs. It lists at most `limits.listed`
   * resources. Default: a template lists nothing.
   *
   * @example
   * list: ({ auth }) => notesOf(auth).map(({ id, title }) => ({ variables: { id }, title }))
   */
  readonly list?: ((context: Ctx) => Listing<Uri>) | undefined
}

/** A resource that the `list` function of a template returns. Its `description` and `mimeType` are by default those of the template. */
export interface ListedResource<Uri extends string = string> extends Omit<
  ResourceOptions,
  'visible' | 'scopes' | 'list'
> {
  /** The values from which the template makes the URI. They are encoded as the URI needs it. */
  readonly variables: ValuesOf<Uri>
}

/** What the `list` function of a template returns. */
export type Listing<Uri extends string = string> =
  | Iterable<ListedResource<Uri>>
  | AsyncIterable<ListedResource<Uri>>
  | Promise<Iterable<ListedResource<Uri>> | AsyncIterable<ListedResource<Uri>>>

const RESOURCE_OPTIONS: KindsOf<ResourceOptions> = {
  ...ITEM_OPTIONS,
  name: TEXT,
  mimeType: TEXT,
  size: NUMBER,
  annotations: object<ResourceAnnotations>(),
  list: callable<(context: Context) => Listing>(),
}
const { visible: _1, scopes: _2, list: _3, ...SHOWN } = RESOURCE_OPTIONS
const LISTED_OPTIONS: KindsOf<ListedResource> = {
  ...SHOWN,
  variables: required(object<ValuesOf<string>>('the variables of the template by name')),
}

/** Builds a resource or, if its URI has variables, a template. */
export function toResource(
  uri: string,
  spec: ResourceOptions<Context>,
  read: ResourceDefinition['read'],
): ResourceDefinition | TemplateDefinition {
  const item = checkArguments('resource', 'uri', 'name', [uri, spec, read])
  checkOptions(item, spec, RESOURCE_OPTIONS)
  const { mimeType, list } = spec
  const about = describeResource(uri, spec)
  if (uri.includes('{') || uri.includes('}')) {
    const template = templateOf(item, uri)
    if (!canBeUri(uri)) throw badDefinition(item, `it does not make URIs; ${uriRemedy(uri)}`)
    const { size: _size, ...descriptor } = about
    return { ...toItem(uri, { uriTemplate: uri, ...descriptor }, spec), mimeType, read, template, list }
  }
  if (!URL.canParse(uri)) throw badDefinition(item, `it is not a URI; ${uriRemedy(uri)}`)
  if (list !== undefined)
    throw badDefinition(
      item,
      'list is for URIs with variables, such as "notes://{id}"; this one lists itself',
    )
  return { ...toItem(uri, { uri, ...about }, spec), mimeType, read }
}

/** Whether a template makes URIs, whatever the values. One that begins with a variable may get its scheme from there. */
function canBeUri(template: string): boolean {
  if (template.startsWith('{')) return true
  return ['a', '1'].some((value) => URL.canParse(template.replace(/\{[^}]*\}/g, value)))
}

function uriRemedy(uri: string): string {
  const variable = /:([A-Za-z_]\w*)/.exec(uri.replace(/^[\w+.-]+:\/\//, ''))?.[1]
  if (uri.includes('{')) return `begin with a scheme, as in "notes://${uri.replace(/^\/+/, '')}"`
  return variable === undefined
    ? 'write something like "orders://list" or "file:///notes.md"'
    : `write a variable as {${variable}}`
}

/** Builds the entry in `resources/list` of a resource that a template lists; throws an error that names it if it is unusable. */
export function toListed(
  { key, template, spec }: TemplateDefinition,
  entry: ListedResource,
  nth: number,
): JsonObject & { readonly uri: string } {
  const item = `resource "${key}": entry ${nth} of its list`
  checkOptions(item, entry, LISTED_OPTIONS)
  const { variables, ...facts } = entry
  for (const name of Object.keys(variables)) checkWord(item, 'variable', name, template.variables)
  const uri = expand(template, variables)
  if (!serves(template, uri))
    throw badDefinition(
      item,
      mismatch(
        uri,
        template.variables.filter((name) => variables[name] == null),
      ),
    )
  checkMeta(item, facts)
  const { description, mimeType } = spec as ResourceOptions
  return {
    uri,
    ...describeResource(uri, {
      ...facts,
      description: facts.description ?? description,
      mimeType: facts.mimeType ?? mimeType,
    }),
  }
}

function mismatch(uri: string, absent: readonly string[]): string {
  const cause =
    absent.length === 0
      ? 'a value is empty, contains "..", or cannot be told from the text around it'
      : `the variables have no ${absent.join(' and no ')}`
  return `clients could not read it, because "${clip(uri, 512)}" does not match the template: ${cause}`
}

function describeResource(uri: string, spec: Omit<ResourceOptions, 'list'>): JsonObject {
  const { mimeType, size, annotations } = spec
  const { known, free } = sortAnnotations(annotations ?? {})
  const meta = free === undefined ? spec._meta : { ...spec._meta, [FREE_ANNOTATIONS]: free }
  return {
    name: spec.name ?? nameOf(uri),
    ...describe(spec),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(known === undefined ? {} : { annotations: known }),
    ...(meta === undefined ? {} : { _meta: meta }),
    ...(size === undefined ? {} : { size }),
  }
}

export function isTemplate(
  resource: ResourceDefinition | TemplateDefinition,
): resource is TemplateDefinition {
  return 'template' in resource
}

interface Sorted {
  readonly known?: JsonObject | undefined
  readonly free?: JsonObject | undefined
}

/** Separates official annotations from others. */
function sortAnnotations(annotations: ResourceAnnotations): Sorted {
  const entries = Object.entries(annotations).filter(([, value]) => value !== undefined)
  const isKnown = ([name, value]: readonly [string, unknown]): boolean =>
    name === 'audience'
      ? Array.isArray(value) && value.every((one) => one === 'user' || one === 'assistant')
      : name === 'priority' || name === 'lastModified'
  const known = entries.filter(isKnown)
  const free = entries.filter((entry) => !isKnown(entry))
  return {
    known: known.length === 0 ? undefined : Object.fromEntries(known),
    free: free.length === 0 ? undefined : Object.fromEntries(free),
  }
}

function templateOf(item: string, uri: string): TemplateDefinition['template'] {
  try {
    parseTemplate(uri)
    return parseTemplate(usualTemplate(uri))
  } catch (error) {
    throw badDefinition(item, (error as Error).message)
  }
}

/** The default name of a resource: the last readable part of its URI. */
function nameOf(uri: string): string {
  const parts = uri.replace(/[{}+#./;?&*]/g, ' ').split(/[\s:]+/)
  return parts.findLast((part) => part !== '') ?? uri
}
