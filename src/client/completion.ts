import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The params of `completion/complete`. A template is recognized by its braces. */
export function completionParams(owner: string, argument: JsonObject, known: JsonObject): JsonObject {
  const ref = owner.includes('{') ? { type: 'ref/resource', uri: owner } : { type: 'ref/prompt', name: owner }
  return { ref, argument, ...(Object.keys(known).length > 0 && { context: { arguments: known } }) }
}
