import { badOption } from '../base/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'

/** The params of `completion/complete`. A template is recognized by its braces. */
export function completionParams(owner: unknown, argument: unknown, known: unknown): JsonObject {
  if (typeof owner !== 'string') throw bad('the first argument must be the name of a prompt, or a template')
  if (!isObject(argument) || typeof argument['name'] !== 'string' || typeof argument['value'] !== 'string')
    throw bad("the second argument must be { name, value }, both strings; begin with value: ''")
  if (!isObject(known) || !Object.values(known).every((value) => typeof value === 'string'))
    throw bad('the third argument must be the values that are filled in already, as strings by name')
  const ref = owner.includes('{') ? { type: 'ref/resource', uri: owner } : { type: 'ref/prompt', name: owner }
  return { ref, argument, ...(Object.keys(known).length > 0 && { context: { arguments: known } }) }
}

/** The suggestions in a result of `completion/complete`. */
export function readCompletion({
  completion,
}: JsonObject): JsonObject & { readonly values: readonly string[] } {
  const values = isObject(completion) ? completion['values'] : undefined
  if (Array.isArray(values) && values.every((value) => typeof value === 'string'))
    return completion as JsonObject & { readonly values: readonly string[] }
  const issue = 'completion.values is not a list of strings'
  throw mcpError(BAD_ANSWER, { method: 'completion/complete', issue })
}

function bad(reason: string): Error {
  return badOption('complete', reason)
}
