import { copyOf } from '../base/copy-of.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_MESSAGE, BAD_PARAMS, DUPLICATE_KEY, PARSE_FAILED, TOO_DEEP } from '../errors/wire.ts'
import {
  isObject,
  isWide,
  JSONRPC,
  MAX_MEMBERS,
  type JsonObject,
  type Message,
  type RequestId,
} from '../protocol/jsonrpc.ts'
import type { Finding } from './full-scan.ts'

export const NO_PARAMS: JsonObject = Object.freeze({})

/** Reads the text of a message or batch whose scan result is known. */
export function readScanned(
  text: string,
  maxDepth: number,
  finding: Finding | undefined,
): Message | readonly unknown[] {
  if (finding?.kind === 'deep') throw mcpError(TOO_DEEP, { limit: maxDepth })
  const value = parse(text)
  if (finding?.kind === 'duplicate')
    throw withId(mcpError(DUPLICATE_KEY, { key: finding.key.slice(0, 64) }), value)
  if (finding?.kind === 'id') throw mcpError(BAD_MESSAGE, { reason: 'the id has too many digits' })
  if (Array.isArray(value))
    return finding === undefined ? value : value.map((member, at) => setId(member, finding.ids[at]))
  return readMessage(finding === undefined ? value : setId(value, finding.ids[0]))
}

/** Throws if a text from a server is a batch with too many members. */
export function checkBatchLength(read: unknown, limit: number): void {
  if (Array.isArray(read) && read.length > limit)
    throw mcpError(BAD_MESSAGE, { reason: `it is a batch of more than ${limit} messages` })
}

/** Reads a parsed value as a message; throws if it is not one. */
export function readMessage(value: unknown): Message {
  if (!isObject(value)) throw malformed('it is not an object', value)
  const message = value as Record<string, unknown>
  let hasId = false
  let kinds = 0
  let members = 0
  for (const key in message) {
    if (++members > MAX_MEMBERS) throw malformed(`it has more than ${MAX_MEMBERS} members`, value)
    switch (key) {
      case 'jsonrpc':
      case 'params':
        break
      case 'id':
        hasId = true
        break
      case 'method':
      case 'result':
      case 'error':
        kinds++
        break
      default:
        if (key.length <= LONGEST && TWINS.has(key.toLowerCase()))
          throw malformed(`"${key}" is not in lower case`, value)
    }
  }
  if (message['jsonrpc'] !== JSONRPC) throw malformed('jsonrpc is not "2.0"', value)
  if (hasId && !isId(message['id'])) throw malformed('the id is neither a string nor an integer', value)
  if (kinds !== 1)
    throw malformed(kinds === 0 ? 'it has no method' : 'it is both a request and a response', value)
  if ('method' in message) return readCall(message)
  if (!hasId && 'result' in message) throw malformed('a result needs an id', value)
  return readAnswer(message)
}

/** The id of a rejected message, if it can be read. */
export function readableId(error: unknown): RequestId | undefined {
  return ids.get(error as object)
}

/** The call that was rejected because its params are positional. */
export function positionalCall(error: unknown): Message | undefined {
  return positional.get(error as object)
}

const positional = new WeakMap<object, Message>()
/** The length of the longest name among the twins. */
const LONGEST = 7
const TWINS = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
const ids = new WeakMap<object, RequestId>()
/** The longest id that an error about a bad message repeats. */
const LONGEST_ID = 65_536

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw mcpError(PARSE_FAILED, {})
  }
}

function readCall(message: Record<string, unknown>): Message {
  if (typeof message['method'] !== 'string' || message['method'] === '') {
    throw malformed('the method is not a non-empty string', message)
  }
  const params = message['params']
  if (params !== undefined && params !== null) {
    if (!isObject(params)) {
      const error = badParams(message, 'they are not an object')
      if (Array.isArray(params)) positional.set(error, message as Message)
      throw error
    }
    const meta = params['_meta']
    if (meta !== undefined && !isObject(meta)) throw badParams(message, '_meta is not an object')
    if (isWide(params) || isWide(meta))
      throw badParams(message, `they or their _meta have more than ${MAX_MEMBERS} members`)
  }
  return message as Message
}

function readAnswer(message: Record<string, unknown>): Message {
  if ('error' in message) {
    const error = message['error'] as { code?: unknown; message?: unknown } | null
    const valid =
      typeof error === 'object' && Number.isInteger(error?.code) && typeof error?.message === 'string'
    if (!valid) throw malformed('the error needs an integer code and a message', message)
    return message as Message
  }
  const result = message['result']
  if (!isObject(result)) throw malformed('the result is not an object', message)
  // Some servers write `null` for none.
  if (!isObject(result['_meta'] ?? {})) throw malformed('_meta is not an object', message)
  return message as Message
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'bigint' || Number.isSafeInteger(id)
}

function malformed(reason: string, value: unknown): Error {
  return withId(mcpError(BAD_MESSAGE, { reason }), value)
}

function badParams(message: Record<string, unknown>, reason: string): Error {
  const method = String(message['method']).slice(0, 256)
  return withId(mcpError(BAD_PARAMS, { method, reason }), message)
}

function withId(error: Error, value: unknown): Error {
  const id = isObject(value) ? value['id'] : undefined
  if (isId(id) && String(id).length <= LONGEST_ID) ids.set(error, id)
  return error
}

function setId(value: unknown, id: bigint | undefined): unknown {
  return id === undefined ? value : Object.assign(copyOf(value as JsonObject), { id })
}
