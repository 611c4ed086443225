import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { isObject, isWide, MAX_MEMBERS, type JsonObject } from '../protocol/jsonrpc.ts'
import { LATEST } from '../protocol/revisions.ts'
import { copyOf } from '../base/copy-of.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { decodeResult } from '../wire/2026-07-28/decode-result.ts'
import type { Agreement } from './negotiate.ts'

/** The member of a task that was asked for which has the token of its progress. No server can send it. */
export const TOKEN: unique symbol = Symbol('token')

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

/** Rejects a result that lacks a required member. */
export function checkResult(method: string, result: JsonObject): JsonObject {
  const issue = CHECKS.get(method)?.(result)
  if (issue !== undefined) throw mcpError(BAD_ANSWER, { method, issue })
  return result
}

/**
 * Decodes and checks a result. One that asks for input or is a task is returned as it is. `token` is that of the progress, if a task
 * was asked for.
 */
export function readResult(
  method: string,
  encoded: JsonObject,
  { revision, forms: { adapter } }: Pick<Agreement, 'revision' | 'forms'>,
  token?: unknown,
): JsonObject {
  const wide = isWide(encoded) ? 'it' : isWide(encoded['_meta']) ? 'its _meta' : undefined
  if (wide !== undefined)
    throw mcpError(BAD_ANSWER, { method, issue: `${wide} has more than ${MAX_MEMBERS} members` })
  const { resultType = 'complete', task } = encoded
  if (revision !== LATEST) {
    if (token !== undefined && isObject(task))
      return Object.assign(copyOf(task), { resultType: 'task', [TOKEN]: token })
    return checkResult(method, adapter === undefined ? encoded : adapter.decodeResult(method, encoded))
  }
  if (resultType === 'input_required' || resultType === 'task') return encoded
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
  return typeof text === 'string' && typeof blob === 'string'
}

function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false
  const { type, resource } = block
  if (typeof type !== 'string') return false
  if (type === 'resource')
    return isObject(resource) && typeof resource['uri'] === 'string' && isContent(resource)
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
