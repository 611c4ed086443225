import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { TaskQuestion } from './record.ts'

const SAMPLED = ['role', 'content', 'model', 'stopReason'] as const
const ROOT = ['uri', 'name', '_meta'] as const

/**
 * The members of an answer that its question asks for. A task keeps answers and writes them again with each change of its state, so
 * that it must not keep whatever else a client sends.
 */
export function knownAnswer({ method, params }: TaskQuestion, answer: JsonObject): JsonObject {
  if (method === 'elicitation/create') return elicited(params['requestedSchema'], answer)
  if (method === 'sampling/createMessage') return pick(answer, SAMPLED)
  if (method !== 'roots/list') return answer
  const { roots } = answer
  if (!Array.isArray(roots)) return pick(answer, ['roots'])
  return { roots: roots.map((root: unknown) => (isObject(root) ? pick(root, ROOT) : root)) }
}

/** The answer to a form, with the fields that the form has. */
function elicited(schema: unknown, answer: JsonObject): JsonObject {
  const { action, content } = answer
  const fields = isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']) : []
  if (action !== 'accept' || content === undefined) return { action }
  return { action, content: isObject(content) ? pick(content, fields) : content }
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(object, name)).map((name) => [name, object[name]]),
  )
}
