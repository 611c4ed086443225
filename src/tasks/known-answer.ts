import { smallMembers } from '../base/small-members.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { TaskQuestion } from './record.ts'

const SAMPLED = ['role', 'content', 'model', 'stopReason'] as const
const ROOT = ['uri', 'name', '_meta'] as const
/** The members of blocks of content, except `_meta`. */
// oxfmt-ignore
const BLOCK = [
  'type', 'text', 'data', 'mimeType', 'annotations', 'id', 'name', 'input', 'toolUseId', 'content', 'structuredContent',
  'isError', 'uri', 'title', 'description', 'size', 'resource',
] as const
const ANNOTATIONS = ['audience', 'priority', 'lastModified'] as const

/**
 * The members of an answer that its question asks for. A task keeps answers and writes them again with each change of its state, so
 * that it must not keep whatever else a client sends.
 */
export function knownAnswer({ method, params }: TaskQuestion, answer: JsonObject): JsonObject {
  if (method === 'elicitation/create') return elicited(params['requestedSchema'], answer)
  if (method === 'sampling/createMessage') return sampled(answer)
  if (method !== 'roots/list') return answer
  const { roots } = answer
  if (!Array.isArray(roots)) return pick(answer, ['roots'])
  return { roots: roots.map((root: unknown) => (isObject(root) ? knownRoot(root) : root)) }
}

function knownRoot(root: JsonObject): JsonObject {
  const known = pick(root, ROOT)
  return isObject(known['_meta']) ? { ...known, _meta: smallMembers(known['_meta']) } : known
}

/** The answer of a model: one block of content, or a list of them. */
function sampled(answer: JsonObject): JsonObject {
  const known = pick(answer, SAMPLED)
  return 'content' in known ? { ...known, content: knownContent(known['content']) } : known
}

function knownContent(content: unknown): unknown {
  return Array.isArray(content) ? content.map(knownBlock) : knownBlock(content)
}

function knownBlock(block: unknown): unknown {
  if (!isObject(block)) return block
  const known = pick(block, BLOCK)
  const { annotations, content } = known
  return {
    ...known,
    ...(isObject(annotations) && { annotations: pick(annotations, ANNOTATIONS) }),
    // The result of a tool has blocks of its own, which have none.
    ...(Array.isArray(content) && { content: content.map(ownBlock) }),
  }
}

function ownBlock(block: unknown): unknown {
  return isObject(block) ? pick(block, BLOCK) : block
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
