import { mcpError } from '../protocol/errors.ts'
import { serverError } from '../protocol/server-errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'
import type { Prompt, Template } from './definitions.ts'
import { findPrompt } from './prompts.ts'
import { rethrown } from './settle.ts'
import { isVisible } from './visibility.ts'

/** What a completer gives back: values in order of rank, or values with how many there are in all. */
export type Completions =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }

/** Completes the value of one argument; `known` holds the arguments that are filled in already. */
export type Completer<Ctx = Context> = (
  value: string,
  known: Readonly<Record<string, string>>,
  context: Ctx,
) => Completions | Promise<Completions>

export interface CompletionParts {
  readonly prompts: ReadonlyMap<string, Prompt>
  readonly templates: ReadonlyMap<string, Template>
  /** Completers by the name of the prompt or the text of the template, then by argument. */
  readonly completers: ReadonlyMap<string, ReadonlyMap<string, Completer>>
}

const MAX_VALUES = 100

/** `completion/complete`: values for one argument of a prompt or one variable of a template. */
export async function complete(parts: CompletionParts, context: Context): Promise<Result> {
  const { name, value } = readArgument(context)
  const { key, names } = findOwner(parts, context)
  const completer = parts.completers.get(key)?.get(name)
  if (completer === undefined) {
    if (!names.includes(name))
      throw serverError('unknown_completion', { reason: `"${key}" has no argument "${name.slice(0, 128)}"` })
    return { completion: { values: [], total: 0, hasMore: false } }
  }
  const found = await rethrown(context, `completion of "${key}"`, () =>
    completer(value, readKnown(context), context),
  )
  return { completion: toCompletion(found) }
}

function toCompletion(found: Completions): JsonObject {
  const given: Exclude<Completions, readonly string[]> = isPlain(found)
    ? { values: found, total: found.length }
    : found
  const values = given.values.slice(0, MAX_VALUES).map(String)
  const more = given.hasMore ?? (given.values.length > values.length || (given.total ?? 0) > values.length)
  return { values, ...(given.total === undefined ? {} : { total: given.total }), hasMore: more }
}

function isPlain(found: Completions): found is readonly string[] {
  return Array.isArray(found)
}

function findOwner(
  parts: CompletionParts,
  context: Context,
): { readonly key: string; readonly names: readonly string[] } {
  const ref = context.call.params['ref'] as JsonObject | null | undefined
  if (ref?.['type'] === 'ref/prompt') {
    const prompt = findPrompt(parts.prompts, ref['name'], context)
    return { key: prompt.key, names: prompt.argNames }
  }
  if (ref?.['type'] === 'ref/resource') {
    const { uri } = ref
    if (typeof uri !== 'string')
      throw serverError('unknown_completion', { reason: 'ref.uri is not a string' })
    const template = parts.templates.get(uri)
    if (template !== undefined && isVisible(template, context))
      return { key: template.key, names: template.template.variables }
    throw serverError('unknown_completion', {
      reason: `there is no resource template "${uri.slice(0, 512)}"`,
    })
  }
  throw serverError('unknown_completion', { reason: 'ref.type must be "ref/prompt" or "ref/resource"' })
}

function readArgument(context: Context): { readonly name: string; readonly value: string } {
  const argument = context.call.params['argument'] as JsonObject | null | undefined
  const name = argument?.['name']
  const value = argument?.['value']
  if (typeof name === 'string' && typeof value === 'string') return { name, value }
  throw mcpError('bad_params', {
    method: context.call.method,
    reason: 'argument needs a name and a value, both strings',
  })
}

function readKnown(context: Context): Readonly<Record<string, string>> {
  const known = (context.call.params['context'] as JsonObject | undefined)?.['arguments'] ?? {}
  const valid =
    typeof known === 'object' &&
    known !== null &&
    !Array.isArray(known) &&
    Object.values(known).every((one) => typeof one === 'string')
  if (valid) return known as Record<string, string>
  throw mcpError('bad_params', {
    method: context.call.method,
    reason: 'context.arguments must be an object of strings',
  })
}
