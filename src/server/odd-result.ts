import { nearest } from '../base/nearest.ts'
import { isContentBlock } from '../protocol/content.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'

/** The members that each block must have, and the function that creates it. */
const BLOCKS: Readonly<Record<string, readonly [members: readonly string[], write: string]>> = {
  text: [['text'], `text('…')`],
  image: [['data', 'mimeType'], `image(data, 'image/png')`],
  audio: [['data', 'mimeType'], `audio(data, 'audio/wav')`],
  resource_link: [['uri', 'name'], 'link(uri, { name })'],
  resource: [['resource'], 'embed(uri, text)'],
}
const AS_JSON = 'so it was sent as JSON text'

/**
 * Says what is probably wrong with a value that a handler returned and that is neither text nor a complete result, and what to
 * return instead; undefined for values that may be meant as they are.
 */
export function oddityOf(value: unknown): string | undefined {
  if (value === undefined)
    return `undefined, so its result is empty; return a value, or text such as 'done' (is a return missing?)`
  if (Array.isArray(value)) return value.every(isObject) ? firstOddity(value) : undefined
  if (!isObject(value)) return undefined
  if (!('content' in value)) return blockOddity(value)
  const { content } = value
  // An object with other members is data that happens to have a member of this name.
  if (Object.keys(value).some((name) => !RESULT.has(name))) return undefined
  const odd = Array.isArray(content) ? firstOddity(content.filter(isObject)) : undefined
  return (
    odd ??
    `content that is not a list of blocks, ${AS_JSON}; write content: [text('…')], or return the text itself`
  )
}

const RESULT = new Set(['content', 'structuredContent', 'isError', '_meta'])

function firstOddity(blocks: readonly JsonObject[]): string | undefined {
  for (const block of blocks) {
    const odd = blockOddity(block)
    if (odd !== undefined) return odd
  }
  return undefined
}

function blockOddity(block: JsonObject): string | undefined {
  const { type } = block
  if (typeof type !== 'string' || isContentBlock(block)) return undefined
  const known = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined
  if (known === undefined) return looksLikeBlock(block) ? unknownType(type.slice(0, 64)) : undefined
  const [members, write] = known
  const missing = members.find((name) => typeof block[name] !== 'string')
  const lack = type === 'resource' && block['resource'] !== undefined ? 'uri and text' : missing
  return `a block of type "${type}" without ${lack}, ${AS_JSON}; write ${write}`
}

/** Whether an object has what only blocks have: much data has a member `type`. */
function looksLikeBlock(block: JsonObject): boolean {
  return ['text', 'data', 'mimeType', 'resource'].some((name) => name in block)
}

function unknownType(type: string): string {
  const meant = nearest(type, Object.keys(BLOCKS))
  const remedy =
    meant === undefined
      ? 'the types are text, image, audio, resource_link and resource'
      : `did you mean "${meant}"?`
  return `a block of the unknown type "${type}", ${AS_JSON}; ${remedy}`
}
