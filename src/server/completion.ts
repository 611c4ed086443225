import { mcpError } from '../errors/error.ts'
import { COMPLETION_CONTEXT, UNKNOWN_COMPLETION } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { DESCRIPTIONS } from '../protocol/meta.ts'
import type { Peer } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { callOf, type Context } from './context.ts'
import type { PromptDefinition, TemplateDefinition } from './definitions.ts'
import type { List } from './lists.ts'
import { findPrompt } from './prompts.ts'
import { rethrown } from './settle.ts'
import { argumentsOddity } from './string-arguments.ts'
import { isVisible } from './visibility.ts'

/** A value, or a value with a description. */
export type Suggestion =
  | string
  | {
      /** The value to fill in. */
      readonly value: string
      /** Describes the value; clients of `toolCompletion`, and those that read `_meta`, see it. Default: none. */
      readonly description?: string | undefined
    }

/** The result of a completer: values in order of rank, optionally with the total number. */
export type Completions =
  | readonly Suggestion[]
  | {
      /** The best values first; at most 100 are sent. */
      readonly values: readonly Suggestion[]
      /** How many values there are, sent or not. Default: not sent. */
      readonly total?: number | undefined
      /** Whether there are more than those sent. Default: whether `values` or `total` say so. */
      readonly hasMore?: boolean | undefined
    }

/** Completes the value of one argument; `known` contains the arguments that are already filled in. */
export type Completer<Ctx = Context> = (
  value: string,
  known: Readonly<Record<string, string>>,
  context: Ctx,
) => Completions | Promise<Completions>

/** Something with arguments to complete. */
export interface Owner {
  readonly key: string
  readonly names: readonly string[]
  /** Its completers by argument, unless they are registered with the prompts and templates. */
  readonly completers?: ReadonlyMap<string, Completer>
}

/** Resolves a reference of some type; undefined if the caller does not know the type. */
export type OwnerOf = (ref: JsonObject, context: Context, peer: Peer) => Owner | undefined

export interface CompletionParts {
  readonly prompts: List<PromptDefinition>
  readonly templates: List<TemplateDefinition>
  /** Completers by the name of the prompt or the text of the template, then by argument. */
  readonly completers: ReadonlyMap<string, ReadonlyMap<string, Completer>>
  /** Resolvers of extensions, by the type of the reference. */
  readonly refs: ReadonlyMap<string, OwnerOf>
}

const MAX_VALUES = 100

/** `completion/complete`: values for one argument of a prompt or one variable of a template. */
export async function complete(parts: CompletionParts, context: Context): Promise<Result> {
  const { name, value } = readArgument(context)
  const { key, names, completers } = findOwner(parts, context)
  // An update may have taken away an argument that has a completer.
  const own = names.includes(name) ? parts.completers.get(key) : undefined
  const completer = (completers ?? own)?.get(name)
  if (completer === undefined) {
    if (!names.includes(name)) throw mcpError(UNKNOWN_COMPLETION, { reason: lacks(key, name, names) })
    return { completion: { values: [], total: 0, hasMore: false } }
  }
  return rethrown(context, `completion of "${key}"`, async () =>
    toCompletion(await completer(value, readKnown(names, context), context)),
  )
}

function toCompletion(found: Completions): Result {
  if (!Array.isArray(found) && !Array.isArray((found as { readonly values?: unknown } | undefined)?.values))
    throw new TypeError('a completer must return a list of values, or { values, total }')
  const given: Exclude<Completions, readonly Suggestion[]> = isPlain(found)
    ? { values: found, total: found.length }
    : found
  const shown = given.values.slice(0, MAX_VALUES)
  const values = shown.map((one) => String(isDescribed(one) ? one.value : one))
  const more = given.hasMore ?? (given.values.length > values.length || (given.total ?? 0) > values.length)
  const total = given.total === undefined ? {} : { total: given.total }
  return { completion: { values, ...total, hasMore: more }, ...describing(shown) }
}

function lacks(key: string, name: string, names: readonly string[]): string {
  return `"${key}" has no argument "${name.slice(0, 128)}"; its arguments are ${names.join(', ') || 'none'}`
}

function isPlain(found: Completions): found is readonly Suggestion[] {
  return Array.isArray(found)
}

function isDescribed(one: Suggestion): one is Exclude<Suggestion, string> {
  return typeof one === 'object' && one !== null
}

/** Descriptions in the order of the values, null for values without one. They go into `_meta`, since the protocol has no place for them. */
function describing(shown: readonly Suggestion[]): JsonObject {
  const descriptions = shown.map((one) => (isDescribed(one) ? (one.description ?? null) : null))
  if (descriptions.every((one) => one === null)) return {}
  return { _meta: { [DESCRIPTIONS]: descriptions } }
}

function findOwner(parts: CompletionParts, context: Context): Owner {
  const ref = context.params['ref'] as JsonObject | null | undefined
  if (ref?.['type'] === 'ref/prompt') {
    const prompt = findPrompt(parts.prompts, ref['name'], context)
    return { key: prompt.key, names: prompt.argNames }
  }
  if (ref?.['type'] === 'ref/resource') {
    const uri = ref['uri'] ?? uriNamed(ref['name'], parts, context)
    if (typeof uri !== 'string') throw mcpError(UNKNOWN_COMPLETION, { reason: 'ref.uri is not a string' })
    const template = parts.templates.find(uri, context)
    if (template !== undefined) return { key: template.key, names: template.template.variables }
    throw mcpError(UNKNOWN_COMPLETION, {
      reason: `there is no resource template "${uri.slice(0, 512)}"`,
    })
  }
  const type = ref?.['type']
  const find = typeof type === 'string' ? parts.refs.get(type) : undefined
  const owner = find?.(ref as JsonObject, context, callOf(context).peer)
  if (owner !== undefined) return owner
  throw mcpError(UNKNOWN_COMPLETION, { reason: 'ref.type must be "ref/prompt" or "ref/resource"' })
}

/** The URI of the template that the caller sees under this name, if the dialect allows names. */
function uriNamed(name: unknown, { templates }: CompletionParts, context: Context): unknown {
  if (callOf(context).peer.dialect.resourceRefs !== 'name') return undefined
  const named = [...templates.items.values()].find(
    (template) => template.descriptor['name'] === name && isVisible(template, context),
  )
  return named === undefined ? name : named.key
}

function readArgument(context: Context): { readonly name: string; readonly value: string } {
  const argument = context.params['argument'] as JsonObject | null | undefined
  const name = argument?.['name']
  const value = argument?.['value']
  if (typeof name === 'string' && typeof value === 'string') return { name, value }
  throw mcpError(BAD_PARAMS, {
    method: context.method,
    reason: 'argument needs a name and a value, both strings',
  })
}

function readKnown(names: readonly string[], context: Context): Readonly<Record<string, string>> {
  const known = (context.params['context'] as JsonObject | undefined)?.['arguments'] ?? {}
  const oddity = argumentsOddity(known, names)
  if (oddity === undefined) return known as Record<string, string>
  throw mcpError(COMPLETION_CONTEXT, { reason: `context.arguments ${oddity}` })
}
