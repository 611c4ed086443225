import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { decodeResult } from '../wire/2026-07-28/decode-result.ts'
import type { Agreement } from './negotiate.ts'

type Check = (result: JsonObject) => string | undefined

/** The members that the result of each method must have, except of methods whose code is loaded when it is used. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['tools/list', listOf('tools', 'name')],
  ['resources/list', listOf('resources', 'uri')],
  ['resources/templates/list', listOf('resourceTemplates', 'uriTemplate')],
  ['prompts/list', listOf('prompts', 'name')],
  [
    'tools/call',
    ({ content, isError }) => {
      if (!Array.isArray(content) || !content.every(isBlock)) return 'content is not a list of blocks'
      return isError === undefined || typeof isError === 'boolean' ? undefined : 'isError is not a boolean'
    },
  ],
  [
    'resources/read',
    (result) =>
      listOf('contents', 'uri')(result) ??
      ((result['contents'] as readonly JsonObject[]).every(isContent)
        ? undefined
        : 'the text or blob of an item of contents is not a string'),
  ],
  [
    'prompts/get',
    ({ messages }) =>
      Array.isArray(messages) && messages.every(isMessage) ? undefined : 'messages is not a list of messages',
  ],
  [
    'server/discover',
    ({ supportedVersions, capabilities }) =>
      Array.isArray(supportedVersions) && isObject(capabilities)
        ? undefined
        : 'supportedVersions or capabilities is missing',
  ],
])

/** Rejects a result that lacks a required member. Listed items lose optional members of a wrong type: one bad item must not cost a list. */
export function checkResult(method: string, result: JsonObject): JsonObject {
  const issue = CHECKS.get(method)?.(result)
  if (issue !== undefined) throw mcpError(BAD_ANSWER, { method, issue })
  const list = LISTS.get(method)
  if (list === undefined) return result
  const items = result[list] as readonly JsonObject[]
  return items.some(isOdd) ? { ...result, [list]: items.map(mended) } : result
}

const LISTS: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['prompts/list', 'prompts'],
])

const isText = (value: unknown): boolean => typeof value === 'string'

/** The types of the optional members of listed items. */
const MEMBERS: readonly (readonly [member: string, is: (value: unknown) => boolean])[] = [
  ['name', isText],
  ['title', isText],
  ['description', isText],
  ['mimeType', isText],
  ['inputSchema', isObject],
  ['outputSchema', isObject],
  ['annotations', isObject],
  ['_meta', isObject],
  ['icons', isListOfObjects],
  ['arguments', isListOfObjects],
]

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject)
}

function isOdd(item: JsonObject): boolean {
  return MEMBERS.some(([member, is]) => item[member] !== undefined && !is(item[member]))
}

/** A listed item without the members of a wrong type. A tool that is said to have an odd input takes any object. */
function mended(item: JsonObject): JsonObject {
  if (!isOdd(item)) return item
  const right = { ...item }
  for (const [member, is] of MEMBERS) if (!is(right[member])) delete right[member]
  return 'inputSchema' in item ? { inputSchema: { type: 'object' }, ...right } : right
}

/** Decodes and checks a result. A result that asks for input is returned as it is. */
export function readResult(
  method: string,
  encoded: JsonObject,
  { revision, forms: { adapter } }: Pick<Agreement, 'revision' | 'forms'>,
): JsonObject {
  if (revision !== LATEST)
    return checkResult(method, adapter === undefined ? encoded : adapter.decodeResult(method, encoded))
  const { resultType = 'complete' } = encoded
  if (resultType === 'input_required') return encoded
  if (resultType !== 'complete') {
    const issue = `the result type "${untrustedText(resultType).slice(0, 32)}" is unknown`
    throw mcpError(BAD_ANSWER, { method, issue })
  }
  return checkResult(method, decodeResult(encoded))
}

function listOf(name: string, key: string): Check {
  return (result) => {
    const { [name]: items, nextCursor } = result
    if (!Array.isArray(items)) return `${name} is not a list`
    if (!items.every((item) => isObject(item) && typeof item[key] === 'string'))
      return `an item of ${name} has no ${key}`
    return nextCursor === undefined || nextCursor === null || typeof nextCursor === 'string'
      ? undefined
      : 'nextCursor is not a string'
  }
}

function isContent({ text = '', blob = '' }: JsonObject): boolean {
  return isText(text) && isText(blob)
}

function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false
  const { type, resource } = block
  if (typeof type !== 'string') return false
  if (type === 'resource') return isObject(resource) && isText(resource['uri']) && isContent(resource)
  const member = BLOCKS.get(type)
  return member === undefined || typeof block[member] === 'string'
}

/** The required string member of each type of block. */
const BLOCKS: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['image', 'data'],
  ['audio', 'data'],
  ['resource_link', 'uri'],
])

function isMessage(message: unknown): boolean {
  return isObject(message) && typeof message['role'] === 'string' && isBlock(message['content'])
}
